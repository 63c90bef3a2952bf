#include "host/handler/worker_process.h"

#include <unistd.h>

#include <gtest/gtest.h>
#include <poll.h>

#include "base/guarded.h"
#include "base/promise.h"
#include "support/temporary_directory.h"

namespace evenkeel::host {
namespace {

const Environment usual = {{"PATH", "/usr/bin:/bin"}};

// What a process said, until it has ended.
struct Heard {
    Guarded<std::string> text;
    Promise<std::string> ended;

    WorkerProcess::Options options(std::vector<std::string> command) {
        WorkerProcess::Options wanted;
        wanted.command = std::move(command);
        wanted.environment = usual;
        wanted.on_line = [this](Stream stream, std::string_view line) {
            const char* const names[] = {"out", "err", "answer"};
            text.with([&](std::string& all) {
                all +=
                    std::string(names[static_cast<int>(stream)]) + ":" + std::string(line) + "\n";
            });
        };
        wanted.on_end = [this](const WorkerEnd& end) { ended.set(end.how); };
        return wanted;
    }
    std::string all() {
        return text.with([](const std::string& said) { return said; });
    }
};

TEST(WorkerProcess, tells_its_lines_and_how_it_ended) {
    Heard heard;
    auto options =
        heard.options({"sh", "-c", "read x; echo out $x; echo err >&2; echo {} >&3; exit 3"});
    options.has_answers = true;
    auto process = WorkerProcess::start(std::move(options));
    ASSERT_TRUE(process.ok()) << process.error().detail;

    (*process)->write("hello\n");

    EXPECT_EQ(heard.ended.wait(), "exit code 3");
    EXPECT_TRUE((*process)->has_ended());
    const std::string said = heard.all();
    EXPECT_NE(said.find("out:out hello\n"), std::string::npos) << said;
    EXPECT_NE(said.find("err:err\n"), std::string::npos) << said;
    EXPECT_NE(said.find("answer:{}\n"), std::string::npos) << said;
}

TEST(WorkerProcess, reads_in_order_what_is_more_than_its_pipe_holds) {
    Heard heard;
    auto process = WorkerProcess::start(
        heard.options({"sh", "-c", "head -n 400001 | sed -n -e 200000p -e '$p'"}));
    ASSERT_TRUE(process.ok()) << process.error().detail;
    std::string lines;
    for (int n = 1; n <= 200'000; ++n) lines += std::to_string(n) + "\n";

    (*process)->write(lines);
    (*process)->write(lines + "last\n");

    EXPECT_EQ(heard.ended.wait(), "exit code 0");
    EXPECT_EQ(heard.all(), "out:200000\nout:last\n");
}

TEST(WorkerProcess, has_no_more_memory_than_it_may) {
    Heard heard;
    auto options = heard.options({"python3", "-c", "bytearray(100 << 20)"});
    options.memory_max = std::uint64_t{64} << 20;

    const auto process = WorkerProcess::start(std::move(options));

    ASSERT_TRUE(process.ok()) << process.error().detail;
    EXPECT_EQ(heard.ended.wait(), "exit code 1");
    EXPECT_NE(heard.all().find("MemoryError"), std::string::npos) << heard.all();
}

TEST(WorkerProcess, ends_when_it_is_let_go) {
    Heard heard;
    auto process = WorkerProcess::start(heard.options({"sh", "-c", "echo up; exec cat"}));
    ASSERT_TRUE(process.ok()) << process.error().detail;

    process->reset();

    EXPECT_TRUE(heard.ended.is_set());
}

TEST(WorkerProcess, can_be_killed_with_all_that_it_started) {
    Heard heard;
    auto process = WorkerProcess::start(heard.options({"sh", "-c", "sleep 1000 & sleep 1000"}));
    ASSERT_TRUE(process.ok()) << process.error().detail;

    (*process)->kill_now();

    EXPECT_EQ(heard.ended.wait(), "signal 9");
}

TEST(WorkerProcess, tells_an_end_that_somebody_asked_for) {
    const auto was_asked = [](const std::string& script) {
        Heard heard;
        const auto process = WorkerProcess::start(heard.options({"sh", "-c", script}));
        if (!process.ok()) return false;
        static_cast<void>(heard.ended.wait());
        return (*process)->end().was_asked;
    };

    EXPECT_TRUE(was_asked("kill -TERM $$"));
    EXPECT_TRUE(was_asked("kill -INT $$"));
    EXPECT_TRUE(was_asked("exit 143"));
    EXPECT_TRUE(was_asked("exit 0"));
    EXPECT_FALSE(was_asked("kill -SEGV $$"));
    EXPECT_FALSE(was_asked("exit 1"));
}

TEST(WorkerProcess, is_not_held_up_by_children_that_keep_its_output) {
    Heard heard;
    auto process = WorkerProcess::start(heard.options({"sh", "-c", "setsid sleep 30 & exit 0"}));
    ASSERT_TRUE(process.ok()) << process.error().detail;

    EXPECT_EQ(heard.ended.wait(), "exit code 0");
}

// In its group, and in one of its own.
TEST(WorkerProcess, has_ended_although_a_child_prints_without_end) {
    for (const std::string child :
         {"(while :; do echo x; done)", "setsid sh -c 'while :; do echo x; done'"}) {
        Heard heard;
        auto options = heard.options({"sh", "-c", child + " & exit 3"});
        options.on_line = [](Stream, std::string_view) {};
        auto process = WorkerProcess::start(std::move(options));
        ASSERT_TRUE(process.ok()) << process.error().detail;

        EXPECT_EQ(heard.ended.wait(), "exit code 3") << child;
    }
}

TEST(WorkerProcess, goes_on_although_its_outputs_are_closed) {
    const test::TemporaryDirectory folder;
    Heard heard;
    auto options = heard.options(
        {"sh", "-c", "exec > /dev/null 2>&1; touch closed; read line && exit 3; exit 4"});
    options.folder = folder.path();
    auto process = WorkerProcess::start(std::move(options));
    ASSERT_TRUE(process.ok()) << process.error().detail;
    while (access((folder.path() + "/closed").c_str(), F_OK) != 0) {
        poll(nullptr, 0, 1);  // tidy: allow sleep: between two looks
    }

    (*process)->write("go\n");

    EXPECT_EQ(heard.ended.wait(), "exit code 3");
}

TEST(WorkerProcess, says_why_it_was_killed_for_a_long_answer) {
    Heard heard;
    auto options = heard.options({"python3", "-c", R"(
import os
while True: os.write(3, b"x" * (1 << 20))
)"});
    options.has_answers = true;
    auto process = WorkerProcess::start(std::move(options));
    ASSERT_TRUE(process.ok()) << process.error().detail;

    const std::string how = heard.ended.wait();

    EXPECT_NE(how.find("longer than 64 MiB"), std::string::npos) << how;
    EXPECT_FALSE((*process)->end().was_asked);
}

TEST(WorkerProcess, names_a_program_that_is_not_there) {
    Heard heard;

    EXPECT_EQ(WorkerProcess::start(heard.options({"no-such-program"})).error().code,
              ErrorCode::not_found);
    EXPECT_EQ(WorkerProcess::start(heard.options({"/etc/passwd"})).error().code,
              ErrorCode::not_found);
}

TEST(WorkerProcess, does_not_get_what_is_the_hosts_own) {
    const Environment settings = {
        {"EVENKEEL_HUB", "a"}, {"EVENKEEL_STORE", "b"}, {"EVENTHUB_CONNECTION_STRING", "c"}};

    EXPECT_EQ(worker_environment(settings), (Environment{{"EVENTHUB_CONNECTION_STRING", "c"}}));
}

TEST(WorkerProcess, has_only_the_environment_it_was_given) {
    Heard heard;
    auto options = heard.options({"sh", "-c", "echo $NAME/$HOME; pwd"});
    options.environment["NAME"] = "value";
    options.folder = "/usr";
    auto process = WorkerProcess::start(std::move(options));
    ASSERT_TRUE(process.ok()) << process.error().detail;

    EXPECT_EQ(heard.ended.wait(), "exit code 0");
    EXPECT_EQ(heard.all(), "out:value/\nout:/usr\n");
}

}  // namespace
}  // namespace evenkeel::host
