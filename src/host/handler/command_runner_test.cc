#include "host/handler/command_runner.h"

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "host/app_fixture.h"

namespace evenkeel::host {
namespace {

using Wish = CommandChild::Wish;

// A command that gets events whose line is their number, and a folder for what it writes.
class RunnerTest : public testing::Test {
protected:
    struct Given {
        std::size_t events = 3;
        std::int64_t first = 0;
    };

    CommandRunner a_runner(const std::string& command, CommandAck ack, std::size_t batch = 0,
                           std::size_t batch_max = 0) {
        return CommandRunner({.child = {.command = command, .folder = folder_.path()},
                              .ack = ack,
                              .batch_events = batch,
                              .batch_events_max = batch_max});
    }
    Result<> run(CommandRunner& runner, const Given& given) {
        const std::vector<EventData> events(given.events, EventData{.body = "x"});
        const EventBatch batch = EventBatch::of(events, {.first_sequence_number = given.first});
        return runner.run(batch.events(), {.add_line =
                                               [&](const Event& event, std::string& to) {
                                                   to += std::to_string(event.sequence_number) +
                                                         padding_ + "\n";
                                               },
                                           .wish = [&] { return wish_; },
                                           .done =
                                               [&](const Event& last, std::size_t count) {
                                                   done_.push_back(last.sequence_number);
                                                   done_events_ += count;
                                               },
                                           .output =
                                               [&](const std::string& lines) {
                                                   output_ += lines;
                                                   return Result<>();
                                               }});
    }
    std::string written() const {
        io::system::SystemFiles files;
        const auto bytes = io::read_file(files, folder_.path() + "/out", 1 << 26);
        if (!bytes.ok()) return "nothing";
        return {reinterpret_cast<const char*>(bytes->data()), bytes->size()};
    }
    static Wish go_on() { return Wish::go_on; }

    AppFolder folder_;
    Wish wish_ = Wish::go_on;
    std::string padding_;
    std::vector<std::int64_t> done_;
    std::size_t done_events_ = 0;
    std::string output_;
};

using CommandByExit = RunnerTest;
using CommandByLines = RunnerTest;
using CommandByBatches = RunnerTest;

TEST_F(CommandByExit, gives_all_events_to_one_process) {
    auto runner = a_runner("echo started >> out; cat >> out", CommandAck::exit_code);

    ASSERT_TRUE(run(runner, {}).ok());

    EXPECT_EQ(written(), "started\n0\n1\n2\n");
    EXPECT_EQ(done_, (std::vector<std::int64_t>{2}));
}

TEST_F(CommandByExit, gives_more_than_a_pipe_holds) {
    padding_ = std::string(5000, ' ');
    auto runner = a_runner("wc -l > out", CommandAck::exit_code);

    ASSERT_TRUE(run(runner, {.events = 400}).ok());

    EXPECT_EQ(written(), "400\n");
}

TEST_F(CommandByExit, quick_batches_grow_and_each_counts_by_itself) {
    auto runner = a_runner("wc -l | tr '\\n' ' ' >> out", CommandAck::exit_code, 2, 6);
    const auto numbers = [&] {
        std::vector<int> all;
        std::istringstream text(written());
        for (int number = 0; text >> number;) all.push_back(number);
        return all;
    };

    ASSERT_TRUE(run(runner, {.events = 20}).ok());

    const auto batches = numbers();
    EXPECT_EQ(batches.front(), 2);
    EXPECT_LE(*std::max_element(batches.begin(), batches.end()), 6);
    EXPECT_EQ(batches.size(), done_.size());
    EXPECT_EQ(done_events_, 20u);
    EXPECT_EQ(done_.back(), 19);
}

TEST_F(CommandByExit, a_failed_batch_leaves_the_ones_before_it_done) {
    auto runner = a_runner("! grep -q '^3$'", CommandAck::exit_code, 2, 2);

    const auto result = run(runner, {.events = 8});

    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, ErrorCode::handler_failed);
    EXPECT_EQ(done_, (std::vector<std::int64_t>{1}));
}

TEST_F(CommandByExit, gives_no_further_batch_when_the_partition_moves) {
    auto runner = a_runner("cat >> out", CommandAck::exit_code, 2, 2);
    wish_ = Wish::finish;

    const auto result = run(runner, {.events = 8});

    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, ErrorCode::cancelled);
    EXPECT_EQ(written(), "0\n1\n");
    EXPECT_EQ(done_, (std::vector<std::int64_t>{1}));
}

TEST_F(CommandByLines, keeps_its_process_and_counts_each_answer) {
    auto runner = a_runner("echo started >> out; exec cat", CommandAck::line);

    ASSERT_TRUE(run(runner, {.events = 1000}).ok());
    ASSERT_TRUE(run(runner, {.events = 1000, .first = 1000}).ok());
    runner.close(go_on);

    EXPECT_EQ(written(), "started\n");
    EXPECT_EQ(done_events_, 2000u);
    EXPECT_TRUE(std::is_sorted(done_.begin(), done_.end()));
}

TEST_F(CommandByLines, long_lines_both_ways_do_not_block_each_other) {
    padding_ = std::string(20000, ' ');
    auto runner = a_runner("exec cat", CommandAck::line);

    ASSERT_TRUE(run(runner, {.events = 500}).ok());

    EXPECT_EQ(done_events_, 500u);
}

TEST_F(CommandByLines, gives_an_answered_event_once_although_one_before_it_fails) {
    auto runner = a_runner(
        "while read -r e; do echo $e >> out; case $e in 12) echo error no;; *) echo ok;; esac; "
        "done",
        CommandAck::line);
    ASSERT_TRUE(run(runner, {.events = 10}).ok());  // quick, so that several are under way

    EXPECT_FALSE(run(runner, {.events = 10, .first = 10}).ok());
    EXPECT_EQ(done_.back(), 11);
    EXPECT_FALSE(run(runner, {.events = 1, .first = 12}).ok()) << "tried again";
    EXPECT_TRUE(run(runner, {.events = 7, .first = 13}).ok()) << "after it was dead-lettered";

    std::istringstream lines(written());
    std::vector<int> given;
    for (int number = 0; lines >> number;) given.push_back(number);
    for (int each = 0; each < 20; ++each) {
        EXPECT_EQ(std::count(given.begin(), given.end(), each), each == 12 ? 2 : 1) << each;
    }
}

TEST_F(CommandByLines, a_rewind_gives_answered_events_again) {
    auto runner = a_runner(
        "while read -r e; do echo $e >> out; case $e in 12) echo error no;; *) echo ok;; esac; "
        "done",
        CommandAck::line);
    ASSERT_TRUE(run(runner, {.events = 10}).ok());
    ASSERT_FALSE(run(runner, {.events = 10, .first = 10}).ok());

    ASSERT_TRUE(run(runner, {.events = 5, .first = 5}).ok());
    ASSERT_TRUE(run(runner, {.events = 7, .first = 13}).ok());

    EXPECT_TRUE(written().ends_with("5\n6\n7\n8\n9\n13\n14\n15\n16\n17\n18\n19\n")) << written();
}

TEST_F(CommandByLines, more_answers_than_events_are_a_failure) {
    auto runner = a_runner("while read -r e; do printf 'debug\\nok\\n'; done", CommandAck::line);

    const auto result = run(runner, {.events = 1});

    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, ErrorCode::handler_failed);
    EXPECT_NE(result.error().detail.find("more lines"), std::string::npos) << result.error().detail;
    EXPECT_TRUE(done_.empty());
}

TEST_F(CommandByLines, an_answer_before_an_event_was_given_is_a_failure) {
    auto runner = a_runner(
        "read -r e; echo ok; if [ ! -e out ]; then until [ -e go ]; do :; done; echo late; "
        "echo x > out; fi; while read -r e; do echo ok; done",
        CommandAck::line);
    ASSERT_TRUE(run(runner, {.events = 1}).ok());
    folder_.add("go", "");
    while (written() == "nothing") {
    }

    const auto second = run(runner, {.events = 1, .first = 1});

    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.error().code, ErrorCode::handler_failed);
    EXPECT_EQ(done_, (std::vector<std::int64_t>{0}));
    EXPECT_TRUE(run(runner, {.events = 1, .first = 1}).ok()) << "by a new process";
}

TEST_F(CommandByLines, counts_the_answers_of_a_process_that_ends) {
    auto runner = a_runner("read a; echo ok; read b; echo ok; exit 0", CommandAck::line);

    const auto result = run(runner, {.events = 5});

    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, ErrorCode::handler_failed);
    EXPECT_EQ(done_, (std::vector<std::int64_t>{0, 1}));
}

TEST_F(CommandByLines, tells_a_command_that_cannot_run_from_one_that_failed) {
    auto runner = a_runner("./not-there", CommandAck::line);

    const auto result = run(runner, {});

    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, ErrorCode::unavailable);
}

TEST_F(CommandByLines, a_signal_that_came_with_our_own_is_no_failure) {
    auto runner = a_runner("kill -TERM $$", CommandAck::line);
    int asked = 0;
    const EventBatch batch = EventBatch::of({EventData{.body = "x"}}, {});

    const auto result = runner.run(
        batch.events(), {.add_line = [](const Event&, std::string& to) { to += "x\n"; },
                         .wish = [&] { return ++asked < 3 ? Wish::go_on : Wish::finish; },
                         .done = [](const Event&, std::size_t) {}});

    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, ErrorCode::cancelled) << result.error().detail;
}

TEST_F(CommandByLines, gives_nothing_when_the_partition_moves) {
    auto runner = a_runner("cat", CommandAck::line);
    wish_ = Wish::finish;

    const auto result = run(runner, {});

    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, ErrorCode::cancelled);
    EXPECT_TRUE(done_.empty());
}

TEST_F(CommandByBatches, an_empty_line_ends_a_batch_in_both_directions) {
    auto runner = a_runner("echo started >> out; exec cat", CommandAck::batch);

    ASSERT_TRUE(run(runner, {}).ok());
    ASSERT_TRUE(run(runner, {.events = 1, .first = 3}).ok());
    runner.close(go_on);

    EXPECT_EQ(output_, "0\n1\n2\n3\n") << "other lines are its output";
    EXPECT_EQ(written(), "started\n") << "one process";
    EXPECT_EQ(done_, (std::vector<std::int64_t>{2, 3}));
}

TEST_F(CommandByBatches, fails_by_a_line_that_says_so) {
    auto runner = a_runner("while read -r e; do test -n \"$e\" || echo error: no room; done",
                           CommandAck::batch);

    const auto result = run(runner, {});

    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, ErrorCode::handler_failed);
    EXPECT_NE(result.error().detail.find("no room"), std::string::npos) << result.error().detail;
    EXPECT_TRUE(done_.empty());
}

TEST_F(CommandByBatches, fails_if_the_process_ends_before_it_answered) {
    auto runner = a_runner("cat > /dev/null & read e; exit 0", CommandAck::batch);

    const auto result = run(runner, {});

    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, ErrorCode::handler_failed);
}

}  // namespace
}  // namespace evenkeel::host
