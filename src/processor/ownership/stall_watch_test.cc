#include "processor/ownership/stall_watch.h"

#include <chrono>

#include <gtest/gtest.h>

#include "processor/ownership/step_fixture.h"

namespace evenkeel::processor {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class StallWatchTest : public testing::Test {
protected:
    StallWatchTest() { lease_.renewed(rig_.now(), rig_.now()); }

    void end_lease() {
        rig_.run_for(lease_.until() - rig_.now());
        lease_.check(rig_.now());
        watch_.watch();
    }

    StepRig rig_;
    Lease lease_{seconds(5)};
    int stalls_ = 0;
    StallWatch watch_{rig_.loop, rig_.steps, lease_, [this] { ++stalls_; }};
};

TEST_F(StallWatchTest, is_attentive_while_the_process_runs) {
    end_lease();

    for (int i = 0; i < 100; ++i) {
        EXPECT_TRUE(watch_.is_attentive(rig_.now()));
        rig_.run_for(milliseconds(100));
    }

    EXPECT_EQ(stalls_, 0);
}

TEST_F(StallWatchTest, tells_once_that_the_process_was_stopped) {
    end_lease();

    rig_.loop.pause(seconds(1));
    rig_.run_for(milliseconds(900));
    EXPECT_FALSE(watch_.is_attentive(rig_.now())) << "before any task has run again";
    rig_.run_for(seconds(5));

    EXPECT_EQ(stalls_, 1);
}

TEST_F(StallWatchTest, bears_a_stop_that_is_short) {
    end_lease();

    rig_.loop.pause(StallWatch::stall_max);
    rig_.run_for(seconds(5));

    EXPECT_EQ(stalls_, 0);
}

TEST_F(StallWatchTest, ends_with_the_next_lease) {
    end_lease();
    lease_.renewed(rig_.now(), rig_.now());
    rig_.run_for(seconds(1));

    rig_.loop.pause(seconds(1));
    rig_.run_for(seconds(2));

    EXPECT_EQ(stalls_, 0);
    EXPECT_FALSE(watch_.is_attentive(rig_.now())) << "of the end of this lease it knows nothing";
}

TEST_F(StallWatchTest, is_begun_once_if_its_own_look_finds_the_lease_over) {
    rig_.heartbeat.start({.id = "a", .incarnation = "1"}, [](const Result<>&) {});
    const Lease& lease = rig_.heartbeat.lease();
    ASSERT_TRUE(rig_.run_until([&] { return lease.is_valid(rig_.now()); }));
    StallWatch watch(rig_.loop, rig_.steps, lease, [this] { ++stalls_; });
    rig_.on_lapsed = [&watch] { watch.watch(); };
    rig_.faults.outage = true;

    // A look that is due just before the end of the lease comes just after it.
    rig_.run_for(lease.until() - rig_.now() - StallWatch::stall_max / 2 - milliseconds(5));
    watch.watch();
    rig_.run_for(StallWatch::stall_max / 2 - milliseconds(5));
    rig_.loop.pause(milliseconds(50));
    rig_.run_for(seconds(2));
    EXPECT_TRUE(watch.is_attentive(rig_.now()));
    rig_.faults.outage = false;

    EXPECT_TRUE(rig_.run_until([&] { return lease.is_valid(rig_.now()); }));
    rig_.run_for(seconds(1));
    EXPECT_EQ(stalls_, 0);
}

}  // namespace
}  // namespace evenkeel::processor
