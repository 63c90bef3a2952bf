#include "dashboard/stalls.h"

#include <gtest/gtest.h>

namespace evenkeel::dashboard {
namespace {

using namespace std::chrono_literals;

class Stall : public testing::Test {
protected:
    Stall() {
        view.partitions.resize(1);
        one().owner = "ada";
        one().epoch = 3;
        one().progress.position = 10;
        one().progress.lag = 5;
        one().hub.last_sent = 12;
    }
    PartitionView& one() { return view.partitions[0]; }
    // Looks once a second.
    void watch_for(Duration time) {
        for (const Instant end = now + time; now < end; now = now + 1s)
            stalls.observe(view, now, WallTime{now.nanoseconds / 1'000'000});
    }
    std::string state() {
        GroupView marked = view;
        stalls.mark(marked, now);
        since_ms = marked.partitions[0].since_ms;
        cause = marked.partitions[0].cause.value_or("");
        return marked.partitions[0].state;
    }

    Stalls stalls;
    GroupView view;
    Instant now{};
    std::optional<std::int64_t> since_ms;
    std::string cause;
};

TEST_F(Stall, is_a_partition_that_stands_still_while_events_wait) {
    watch_for(59s);
    EXPECT_EQ(state(), "ok");
    watch_for(15s);
    EXPECT_EQ(state(), "stalled");
    EXPECT_EQ(since_ms, 0) << "when it was first seen, and the same at each look";
    EXPECT_EQ(cause, "Events wait, but no checkpoint was stored since then.");

    one().progress.position = 11;
    watch_for(1s);
    EXPECT_EQ(state(), "ok");
}

TEST_F(Stall, is_a_checkpoint_behind_the_last_event) {
    one().progress.is_beyond_end = true;
    one().progress.lag = 0;
    watch_for(1s);

    EXPECT_EQ(state(), "stalled") << "at the first look";
    EXPECT_NE(cause.find("set back to an older state"), std::string::npos) << cause;

    one().state = "paused";
    EXPECT_EQ(state(), "paused");
}

TEST_F(Stall, is_none_while_the_handler_is_sent_more) {
    for (int i = 0; i < 10; ++i) {
        watch_for(30s);
        ++*one().hub.last_sent;
    }
    EXPECT_EQ(state(), "ok");
}

TEST_F(Stall, is_none_if_nothing_waits_nobody_owns_it_or_it_is_held) {
    for (const std::string held : {"parked", "paused"}) {
        one().state = held;
        watch_for(100s);
        EXPECT_EQ(state(), held);
    }
    one().state = "ok";
    one().progress.lag = 0;
    watch_for(100s);
    EXPECT_EQ(state(), "ok");
    one().progress.lag = 5;
    one().owner.reset();
    watch_for(100s);
    EXPECT_EQ(state(), "ok");
}

TEST_F(Stall, begins_anew_with_a_new_owner) {
    watch_for(50s);
    one().epoch = 4;
    watch_for(50s);
    EXPECT_EQ(state(), "ok");
}

}  // namespace
}  // namespace evenkeel::dashboard
