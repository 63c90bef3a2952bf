// `evenkeel process` and what operators do with running processors, against a hub.
#include <signal.h>

#include <sqlite3.h>

#include "process/cli/process_fixture.h"

namespace evenkeel::cli_tests {
namespace {

class ProcessCommand : public ProcessTest {
protected:
    void SetUp() override {
        ProcessTest::SetUp();
        create(1);
    }
    bool run_until_done() {
        return eventually([&] { return is_done(); });
    }
};

TEST_F(ProcessCommand, dead_letters_to_an_event_hub) {
    const std::string letters = "letters";
    ASSERT_EQ(evenkeel({"hub", "create", letters, "--partitions", "1"}).exit_code, 0);
    send({"a", "bad", "c"});

    Process running(process({"--exec", "! grep -q '\"bad\"'", "--attempts", "1", "--dead-letter",
                             letters, "--checkpoint-every", "1"}));
    EXPECT_TRUE(run_until_done()) << status().output;
    running.signal(SIGINT);
    running.wait();

    const auto read = evenkeel({"read", letters, "-f", "%v %h\n"});
    EXPECT_TRUE(read.output.starts_with("bad ")) << read.output;
    EXPECT_TRUE(has(read.output, "evenkeel-hub=\"" + name_ + "\"")) << read.output;
    EXPECT_TRUE(has(read.output, "evenkeel-sequence=1")) << read.output;
    EXPECT_EQ(std::count(read.output.begin(), read.output.end(), '\n'), 1) << read.output;
}

TEST_F(ProcessCommand, repeats_no_acknowledged_event) {
    send({"a", "b", "bad", "d"});
    const std::string seen = hub_->file(name_ + ".seen");

    Process running(process({"--ack", "line", "--poison", "skip", "--attempts", "2", "--exec",
                             "while read -r e; do echo \"$e\" >> " + seen +
                                 "; case \"$e\" in *bad*) echo error no;; *) echo ok;; esac; done",
                             "--checkpoint-every", "1"}));
    EXPECT_TRUE(run_until_done()) << status().output;
    running.signal(SIGINT);
    running.wait();

    const auto lines = fault::run_to_end({"/usr/bin/wc", "-l", seen});
    EXPECT_TRUE(lines.output.starts_with("5 ")) << "the bad one twice: " << lines.output;
}

TEST_F(ProcessCommand, writes_each_event_exactly_once_into_a_table) {
    send({"a", "b", "c"});
    for (int round = 0; round < 2; ++round) {
        Process running(process({"--into", "events"}));
        EXPECT_TRUE(run_until_done()) << status().output;
        running.signal(round == 0 ? SIGKILL : SIGINT);
        running.wait();
        if (round == 0) send({"d", "e"});
    }

    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(store_.substr(7).c_str(), &database), SQLITE_OK);
    std::string rows;
    const auto add = [](void* to, int, char** values, char**) {
        *static_cast<std::string*>(to) += values[0];
        return 0;
    };
    EXPECT_EQ(sqlite3_exec(database, "SELECT body FROM events ORDER BY sequence_number", add, &rows,
                           nullptr),
              SQLITE_OK);
    sqlite3_close(database);
    EXPECT_EQ(rows, "abcde");
}

TEST_F(ProcessCommand, can_be_paused_resumed_and_drained) {
    const auto processor = [&](std::vector<std::string> words) {
        words.insert(words.begin(), "processor");
        words.insert(words.begin() + 2, {name_, "--store", store_});
        return evenkeel(words);
    };
    Process running(process({"--id", "worker-1"}));
    EXPECT_TRUE(eventually([&] { return has(processor({"ls"}).output, "worker-1"); }));
    EXPECT_TRUE(eventually([&] { return has(status().output, "\"owner\": \"worker-1\""); }));

    EXPECT_EQ(processor({"pause"}).output, "paused: all partitions\n");
    EXPECT_TRUE(has(status().output, "\"is_paused\": true"));
    EXPECT_EQ(processor({"resume", "--partition", "0"}).exit_code, 6);
    EXPECT_EQ(processor({"resume"}).output, "nothing is paused\n");
    EXPECT_EQ(processor({"pause", "-p", "0"}).output, "paused: partitions 0\n");
    EXPECT_EQ(processor({"resume", "-p", "0"}).output, "nothing is paused\n");
    send({"a"});
    EXPECT_TRUE(run_until_done()) << status().output;

    EXPECT_TRUE(has(processor({"drain", "worker-2"}).errors, "there is 'worker-1'"));
    const auto drained = processor({"drain", "worker-1"});
    EXPECT_EQ(drained.exit_code, 0) << drained.errors;
    EXPECT_EQ(running.wait().code, 0);
    const auto history = processor({"history"});
    EXPECT_TRUE(has(history.output, "nobody had it before")) << history.output;
    EXPECT_TRUE(has(history.output, "released: 'worker-1' stops")) << history.output;
    EXPECT_TRUE(has(processor({"history", "-o", "json"}).output, "\"epoch\": 1"));
    EXPECT_FALSE(has(processor({"history", "-p", "1"}).output, "worker-1"));
}

TEST_F(ProcessCommand, status_shows_lag_and_lost_events) {
    send({"a", "b"});
    {
        Process running(process({"-n", "1", "-q"}));
        EXPECT_EQ(running.wait().code, 0);
    }

    const auto told = status();

    EXPECT_TRUE(has(told.output, "\"lag_events\": 1")) << told.output;
    EXPECT_TRUE(has(told.output, "\"lag_seconds\": ")) << told.output;
    EXPECT_FALSE(has(told.output, "\"lag_seconds\": null")) << told.output;
    EXPECT_FALSE(has(told.output, "\"seconds_to_loss\": null")) << told.output;
    EXPECT_TRUE(has(told.output, "\"lost_events\": 0")) << told.output;
    const auto table = evenkeel({"status", name_, "--store", store_});
    EXPECT_TRUE(has(table.output, "LOSS IN")) << table.output;
}

TEST_F(ProcessCommand, says_what_exactly_once_needs) {
    const auto why = [&](const std::vector<std::string>& more) {
        const auto outcome = fault::run_to_end(process(more));
        EXPECT_NE(outcome.exit_code, 0);
        return outcome.errors;
    };

    EXPECT_TRUE(has(why({"--delivery", "exactly-once"}), "--into TABLE"));
    EXPECT_TRUE(has(why({"--into", "events", "--delivery", "at-most-once"}), "omit --delivery"));
    EXPECT_TRUE(has(evenkeel({"process", name_, "--store", "memory:", "--into", "events"}).errors,
                    "--store sqlite:FILE"));
    EXPECT_TRUE(has(why({"--into", "evenkeel_member"}), "is not a valid table name"));
    EXPECT_TRUE(has(why({"--into", "events", "-n", "5"}), "--count"));
    EXPECT_TRUE(has(why({"--dead-letter", "nowhere"}), "dead_letter_hub"));
    EXPECT_TRUE(has(why({"--dead-letter", name_}), "is the event hub that is read"));
}

}  // namespace
}  // namespace evenkeel::cli_tests
