// `evenkeel process --exec`: commands that end early, take long, and outlive moves and stops.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <signal.h>

#include <boost/json.hpp>

#include "process/cli/process_fixture.h"

namespace evenkeel::cli_tests {
namespace {

class ProcessExec : public ProcessTest {
protected:
    std::vector<std::string> process(const std::string& command,
                                     std::vector<std::string> more = {}) const {
        more.insert(more.begin(), {"--exec", command});
        return ProcessTest::process(more);
    }
    std::int64_t attempts() const {
        std::int64_t sum = 0;
        for (const auto& each : partitions()) sum += each.failed_attempts;
        return sum;
    }
    static std::string text_of(const std::string& file) {
        std::stringstream text;
        text << std::ifstream(file).rdbuf();
        return text.str();
    }
};

TEST_F(ProcessExec, survives_a_command_that_exits_before_reading) {
    create(1);
    // A batch is more than a pipe holds.
    send({"--count", "200", std::string(4096, 'x')});

    Process running(process("exit 0"));
    EXPECT_TRUE(eventually([&] { return is_done(); }));
    running.signal(SIGTERM);
    const fault::Ended ended = running.wait();

    EXPECT_TRUE(ended.exited) << "by signal " << ended.code;
    EXPECT_EQ(ended.code, 0);
    EXPECT_EQ(attempts(), 0) << "exit code 0 is done";
}

TEST_F(ProcessExec, treats_an_early_bad_exit_as_a_failure) {
    create(1);
    send({"--count", "20", std::string(40960, 'x')});

    Process running(process("exit 3", {"--attempts", "1", "--poison", "skip"}));
    EXPECT_TRUE(eventually([&] { return is_done(); }));
    running.signal(SIGTERM);
    const std::string errors = running.rest_of_errors();

    EXPECT_EQ(running.wait().code, 0);
    EXPECT_TRUE(has(errors, "exit code 3")) << errors;
}

TEST_F(ProcessExec, a_command_that_is_not_there_stops_it_at_once) {
    create(1);
    send({"a", "b", "c"});
    for (const char* ack : {"exit", "line"}) {
        const auto ended =
            fault::run_to_end(process("./no-such-bill", {"--ack", ack, "--attempts", "1"}));

        EXPECT_EQ(ended.exit_code, 1) << ended.errors;
        EXPECT_TRUE(has(ended.errors, "the command cannot be run: exit code 127")) << ended.errors;
        EXPECT_TRUE(has(ended.errors, "try: check --exec")) << ended.errors;
        EXPECT_FALSE(has(ended.errors, "dead letter:")) << ended.errors;
    }

    EXPECT_EQ(attempts(), 0);
    EXPECT_FALSE(is_done()) << "three events are behind";
    Process running(process("cat > /dev/null"));
    EXPECT_TRUE(eventually([&] { return is_done(); })) << "nothing was lost";
    running.signal(SIGTERM);
    EXPECT_EQ(running.wait().code, 0);
}

TEST_F(ProcessExec, waits_for_a_command_that_went_away) {
    create(1);
    send({"a"});
    const std::string program = hub_->file(name_ + ".sh");
    const auto install = [&](const char* mode) {
        std::ofstream(program) << "#!/bin/sh\ncat > /dev/null\n";
        ASSERT_EQ(std::system(("chmod " + std::string(mode) + " " + program).c_str()), 0);
    };
    install("755");
    Process running(process(program, {"--attempts", "1"}));
    ASSERT_TRUE(eventually([&] { return is_done(); }));

    install("644");  // not executable: 126
    send({"b", "c"});
    std::string line;
    while (!has(line, "cannot be run")) line = running.read_error_line();
    EXPECT_TRUE(has(line, "exit code 126")) << line;
    EXPECT_EQ(std::remove(program.c_str()), 0);  // not there: 127
    while (!has(line, "exit code 127")) line = running.read_error_line();
    EXPECT_FALSE(is_done());

    install("755");

    EXPECT_TRUE(eventually([&] { return is_done(); }));
    running.signal(SIGTERM);
    const std::string errors = running.rest_of_errors();
    EXPECT_EQ(running.wait().code, 0) << errors;
    EXPECT_EQ(attempts(), 0);
    EXPECT_FALSE(has(errors, "dead letter")) << errors;
}

TEST_F(ProcessExec, a_full_standard_output_stops_it_and_loses_nothing) {
    create(1);
    send({"a", "b", "c"});
    std::string command;
    for (const std::string& word : ProcessTest::process({"--attempts", "1"})) {
        command += "'" + word + "' ";
    }

    const auto ended = fault::run_to_end({"/bin/sh", "-c", command + "> /dev/full"});

    EXPECT_EQ(ended.exit_code, 1) << ended.errors;
    EXPECT_TRUE(has(ended.errors, "standard output: No space left on device")) << ended.errors;
    EXPECT_FALSE(has(ended.errors, "dead letter:")) << ended.errors;
    EXPECT_EQ(attempts(), 0);
    EXPECT_FALSE(is_done());
}

TEST_F(ProcessExec, a_storm_of_dead_letters_parks_until_a_resume) {
    create(1);
    send({"--count", "10", "x"});
    const std::string mended = hub_->file(name_ + ".mended");
    const auto processor = [&](std::vector<std::string> words) {
        words.insert(words.begin(), "processor");
        words.insert(words.end(), {name_, "--store", store_});
        return evenkeel(words);
    };

    Process running(process("cat > /dev/null; test -e " + mended,
                            {"--attempts", "1", "--poison-in-row-max", "3"}));
    ASSERT_TRUE(eventually([&] { return has(status().output, "in a row were dead-lettered"); }));

    const auto listed = processor({"ls"});
    EXPECT_TRUE(has(listed.output, "0 (parked)")) << listed.output;
    EXPECT_TRUE(has(listed.errors, "3 events in a row were dead-lettered, and event 3 fails too"))
        << listed.errors;
    EXPECT_TRUE(has(listed.errors, "evenkeel processor resume " + name_)) << listed.errors;
    EXPECT_EQ(partitions().at(0).position, 2) << "three dead letters, and not one more";

    std::ofstream(mended) << "yes";
    const auto resumed = processor({"resume"});
    EXPECT_EQ(resumed.exit_code, 0) << resumed.errors;
    EXPECT_TRUE(has(resumed.errors, "partition 0 was parked and is tried again")) << resumed.errors;

    EXPECT_TRUE(eventually([&] { return is_done(); }));
    running.signal(SIGTERM);
    EXPECT_EQ(running.wait().code, 0);
    EXPECT_FALSE(has(status().output, "in a row were dead-lettered"));
}

TEST_F(ProcessExec, stop_lets_the_running_command_finish) {
    create(1);
    send({"a", "b", "c"});
    const std::string began = hub_->file(name_ + ".began");
    const std::string done = hub_->file(name_ + ".done");

    Process running(process("cat > " + began + "; sleep 3; cat " + began + " >> " + done));
    ASSERT_TRUE(eventually([&] { return has(text_of(began), "\n"); }));
    running.signal(SIGTERM);
    const std::string errors = running.rest_of_errors();

    EXPECT_EQ(running.wait().code, 0) << errors;
    EXPECT_TRUE(is_done()) << errors;
    EXPECT_EQ(text_of(done), text_of(began));
    EXPECT_EQ(attempts(), 0);
    EXPECT_FALSE(has(errors, "handle:")) << errors;
}

TEST_F(ProcessExec, stop_terminates_a_command_after_the_time_limit) {
    create(1);
    send({"a"});
    const std::string began = hub_->file(name_ + ".began");
    const std::string told = hub_->file(name_ + ".told");

    Process running(process("trap 'echo told >> " + told + "; exit 1' TERM; cat > " + began +
                                "; while :; do sleep 0.1; done",
                            {"--drain-max", "200ms"}));
    ASSERT_TRUE(eventually([&] { return has(text_of(began), "\n"); }));
    running.signal(SIGTERM);
    const std::string errors = running.rest_of_errors();

    EXPECT_EQ(running.wait().code, 0) << errors;
    EXPECT_EQ(text_of(told), "told\n");
    EXPECT_TRUE(has(errors, "did not end in time")) << errors;
    EXPECT_EQ(attempts(), 0);
    EXPECT_FALSE(is_done()) << "it goes to the next owner";
}

TEST_F(ProcessExec, a_signal_to_the_command_at_stop_is_no_failure) {
    create(1);
    send({"a"});
    const std::string began = hub_->file(name_ + ".began");

    Process running(
        process("cat > /dev/null; echo $$ > " + began + "; while :; do sleep 0.1; done"));
    ASSERT_TRUE(eventually([&] { return has(text_of(began), "\n"); }));
    // As a service manager does it: all processes at once.
    running.signal(SIGTERM);
    ASSERT_EQ(kill(std::atoi(text_of(began).c_str()), SIGTERM), 0);
    const std::string errors = running.rest_of_errors();

    EXPECT_EQ(running.wait().code, 0) << errors;
    EXPECT_EQ(attempts(), 0) << errors;
    EXPECT_FALSE(is_done());
}

TEST_F(ProcessExec, a_line_mode_command_ends_with_its_input) {
    create(1);
    send({"a", "b"});
    const std::string done = hub_->file(name_ + ".done");

    Process running(process("while read -r e; do echo \"$e\" >> " + done +
                                "; echo ok; done; sleep 2; echo end >> " + done,
                            {"--ack", "line"}));
    EXPECT_TRUE(eventually([&] { return is_done(); }));
    running.signal(SIGTERM);
    const std::string errors = running.rest_of_errors();

    EXPECT_EQ(running.wait().code, 0) << errors;
    const std::string text = text_of(done);
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3) << text;
    EXPECT_TRUE(text.ends_with("end\n")) << text;
}

TEST_F(ProcessExec, commands_inherit_credentials_only_if_asked) {
    create(1);
    const std::string first = hub_->file(name_ + ".first");
    const std::string second = hub_->file(name_ + ".second");
    setenv("EVENKEEL_STORE", store_.c_str(), 1);
    setenv("EVENTHUB_CONNECTION_STRING", hub_->connection().c_str(), 1);
    const auto run = [&](const std::string& file, const std::vector<std::string>& more) {
        send({"a"});
        Process running(process("cat > /dev/null; env > " + file, more));
        EXPECT_TRUE(eventually([&] { return is_done(); }));
        running.signal(SIGTERM);
        EXPECT_EQ(running.wait().code, 0);
        return "\n" + text_of(file);
    };

    const std::string usual = run(first, {});
    const std::string asked = run(second, {"--pass-env", "EVENKEEL_HUB", "--pass-env", "NO_COLOR"});
    unsetenv("EVENKEEL_STORE");
    unsetenv("EVENTHUB_CONNECTION_STRING");

    EXPECT_TRUE(has(usual, "\nPATH=")) << usual;
    EXPECT_TRUE(has(usual, "\nEVENKEEL_URL=")) << usual;
    EXPECT_FALSE(has(usual, "SharedAccessKey")) << usual;
    EXPECT_FALSE(has(usual, "\nEVENKEEL_STORE=")) << usual;
    EXPECT_TRUE(has(asked, "\nEVENKEEL_HUB=Endpoint=")) << asked;
    EXPECT_FALSE(has(asked, "\nEVENTHUB_CONNECTION_STRING=")) << asked;
}

// How often each event was handled, from the files of the commands: the events as they came.
std::map<std::pair<std::int64_t, std::int64_t>, int> handled_in(const std::string& folder) {
    std::map<std::pair<std::int64_t, std::int64_t>, int> times;
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
        std::ifstream lines(file.path());
        for (std::string line; std::getline(lines, line);) {
            boost::system::error_code error;
            const auto event = boost::json::parse(line, error);
            if (error) {
                ADD_FAILURE() << file.path() << " has a line that is no event: " << line;
                continue;
            }
            ++times[{event.at("partition").to_number<std::int64_t>(),
                     event.at("sequence_number").to_number<std::int64_t>()}];
        }
    }
    return times;
}

// Instances come and go while commands run: nothing is handled twice and no attempt is used up.
struct MovingCommand {
    const char* name;
    const char* command;  // OUT is the file of the events that it handled
    std::vector<std::string> more;
};
class ProcessMoves : public ProcessExec, public testing::WithParamInterface<MovingCommand> {};

TEST_P(ProcessMoves, repeat_no_event_and_count_no_attempt) {
    const int rounds = std::getenv("EVENKEEL_LONG") != nullptr ? 20 : 4;
    set_name(std::string("moves-") + GetParam().name);
    create(8);
    // A file for each process: `cat` may copy a large batch in pieces that end within a line, and
    // commands of other partitions write at the same time.
    const std::string seen = hub_->file(name_ + ".seen");
    std::filesystem::create_directory(seen);
    const std::string command = "OUT=" + seen + "/$$; " + GetParam().command;
    std::string errors;
    std::vector<std::pair<std::string, std::unique_ptr<Process>>> running;
    int named = 0;
    const auto start = [&] {
        const std::string id = "m" + std::to_string(++named);
        std::vector<std::string> more = GetParam().more;
        more.insert(more.end(), {"--id", id});
        auto words = process(command, more);
        // A busy machine may lose the short lease of `fast`, and then events are repeated.
        std::ranges::replace(words, std::string("fast"), std::string("standard"));
        running.emplace_back(id, std::make_unique<Process>(words));
    };
    const auto stop_first = [&] {
        running.front().second->signal(SIGTERM);
        errors += running.front().second->rest_of_errors();
        const fault::Ended ended = running.front().second->wait();
        EXPECT_TRUE(ended.exited && ended.code == 0) << errors;
        running.erase(running.begin());
    };
    // Its share, while events wait for handlers.
    const auto owns = [&](const std::string& id, std::ptrdiff_t count) {
        send({"--count", "200", "tick"});
        return owned_by(id) >= count;
    };
    start();
    ASSERT_TRUE(eventually([&] { return owns("m1", 8); }));

    for (int round = 0; round < rounds && !HasFatalFailure(); ++round) {
        start();
        ASSERT_TRUE(eventually([&] { return owns(running.back().first, 4); })) << round;
        stop_first();
        ASSERT_TRUE(eventually([&] { return owns(running.back().first, 8); })) << round;
    }
    stop_first();

    const auto times = handled_in(seen);
    std::int64_t repeated = 0;
    for (const auto& [event, count] : times) repeated += count - 1;
    std::map<std::int64_t, std::int64_t> handled;
    for (const auto& [event, count] : times) ++handled[event.first];
    EXPECT_EQ(repeated, 0);
    EXPECT_EQ(attempts(), 0);
    for (const auto& each : partitions()) {
        EXPECT_EQ(each.position + 1, handled[each.partition])
            << "what was handled is stored, and nothing else";
    }
    EXPECT_FALSE(has(errors, "handle:")) << errors;
    std::printf("ledger: %d joins and %d stops, commands %s, %zu events, %lld repeated\n", named,
                named, GetParam().name, times.size(), static_cast<long long>(repeated));
}

const std::vector<std::string> batches_of_5 = {"--batch", "5"};
INSTANTIATE_TEST_SUITE_P(
    Commands, ProcessMoves,
    testing::Values(MovingCommand{"of-5-ms", "cat >> $OUT; sleep 0.005", batches_of_5},
                    MovingCommand{"of-100-ms", "cat >> $OUT; sleep 0.1", batches_of_5},
                    MovingCommand{"with-growing-batches", "cat >> $OUT", {}},
                    MovingCommand{"that-answer-lines",
                                  "while read -r e; do echo \"$e\" >> $OUT; echo ok; done",
                                  {"--ack", "line"}},
                    MovingCommand{
                        "that-answer-batches",
                        "while read -r e; do test -z \"$e\" && echo || echo \"$e\" >> $OUT; done",
                        {"--ack", "batch"}}),
    [](const auto& each) {
        std::string name = each.param.name;
        std::ranges::replace(name, '-', '_');
        return name;
    });

}  // namespace
}  // namespace evenkeel::cli_tests
