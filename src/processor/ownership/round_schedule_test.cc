#include "processor/ownership/round_schedule.h"

#include <chrono>
#include <vector>

#include <gtest/gtest.h>

#include "processor/ownership/step_fixture.h"

namespace evenkeel::processor {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class RoundScheduleTest : public testing::Test {
protected:
    std::size_t rounds() const { return begun_.size(); }

    StepRig rig_;
    std::vector<Instant> begun_;
    RoundSchedule schedule_{rig_.loop, rig_.steps, rig_.timing, rig_.scheduler.fork_random(),
                            [this] { begun_.push_back(rig_.now()); }};
};

TEST_F(RoundScheduleTest, begins_a_round_at_its_time) {
    const Instant when = rig_.now() + seconds(3);
    schedule_.look_at(rig_.now() + seconds(1));
    schedule_.look_at(when);  // in place of the first

    rig_.run_for(seconds(10));

    EXPECT_EQ(begun_, std::vector<Instant>{when});
    EXPECT_TRUE(schedule_.is_running());
}

TEST_F(RoundScheduleTest, asked_for_during_a_round_another_one_follows_it) {
    schedule_.look_now();
    rig_.run_for(milliseconds(1));
    ASSERT_EQ(rounds(), 1u);
    schedule_.look_now();
    schedule_.look_now();
    rig_.run_for(seconds(1));
    EXPECT_EQ(rounds(), 1u) << "one at a time";

    EXPECT_TRUE(schedule_.end(rig_.now()));
    rig_.run_for(seconds(1));

    EXPECT_EQ(rounds(), 2u);
    EXPECT_FALSE(schedule_.end(rig_.now())) << "they were asked for together";
}

TEST_F(RoundScheduleTest, comes_less_often_while_the_store_fails) {
    schedule_.look_now();
    rig_.run_for(milliseconds(1));
    Duration before{0};
    for (int i = 0; i < 10; ++i) {
        const Duration pause = schedule_.fail(rig_.now());
        EXPECT_GE(pause, before);
        EXPECT_LE(pause, rig_.timing.heartbeat);
        before = pause;
        const std::size_t so_far = rounds();
        schedule_.look_now();  // does not hasten it
        rig_.run_for(pause - milliseconds(1));
        EXPECT_EQ(rounds(), so_far);
        rig_.run_for(milliseconds(2));
        ASSERT_EQ(rounds(), so_far + 1);
    }
    EXPECT_EQ(before, rig_.timing.heartbeat);

    schedule_.fail(rig_.now());
    schedule_.reset_backoff();
    const std::size_t so_far = rounds();
    schedule_.look_now();
    rig_.run_for(milliseconds(1));
    EXPECT_EQ(rounds(), so_far + 1) << "the store answers again";
}

TEST_F(RoundScheduleTest, looks_often_only_for_a_while) {
    const Duration slow = seconds(60);
    EXPECT_LE(schedule_.next(rig_.now(), true, slow) - rig_.now(), rig_.timing.poll_fast);

    rig_.run_for(rig_.timing.poll_fast_max + seconds(1));
    EXPECT_GT(schedule_.next(rig_.now(), true, slow) - rig_.now(), seconds(50));

    schedule_.next(rig_.now(), false, slow);
    EXPECT_LE(schedule_.next(rig_.now(), true, slow) - rig_.now(), rig_.timing.poll_fast)
        << "something else is expected";
}

TEST_F(RoundScheduleTest, notifications_of_heartbeats_cause_few_rounds) {
    rig_.run_for(seconds(60));
    for (int i = 0; i < 100; ++i) {
        schedule_.on_pushed(false);
        rig_.run_for(milliseconds(1));
        if (schedule_.is_running()) schedule_.end(rig_.now());
    }
    EXPECT_EQ(rounds(), 5u);

    rig_.run_for(seconds(2));
    schedule_.on_pushed(false);
    rig_.run_for(milliseconds(1));
    EXPECT_EQ(rounds(), 6u) << "one a second on average";
}

TEST_F(RoundScheduleTest, a_notification_that_is_expected_is_followed_at_once) {
    schedule_.look_at(rig_.now() + seconds(60));

    for (int i = 0; i < 20; ++i) {
        schedule_.on_pushed(true);
        rig_.run_for(rig_.timing.poll_fast / 10);
        ASSERT_TRUE(schedule_.is_running());
        schedule_.end(rig_.now());
    }

    EXPECT_EQ(rounds(), 20u);
}

TEST_F(RoundScheduleTest, begins_nothing_after_stop) {
    schedule_.look_now();
    schedule_.stop();
    rig_.run_for(seconds(10));

    EXPECT_EQ(rounds(), 0u);
}

}  // namespace
}  // namespace evenkeel::processor
