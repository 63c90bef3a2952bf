#include "host/scale/load_history.h"

#include <gtest/gtest.h>

#include "host/scale/scale_fixture.h"

namespace evenkeel::host {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

TEST(LoadHistory, is_unknown_until_a_reading_succeeds) {
    LoadHistory history;
    EXPECT_TRUE(history.unknown());

    history.note(one_partition(10, 4), 1, at_second(5));
    EXPECT_FALSE(history.unknown());
    EXPECT_EQ(history.latest().unread, 6);

    history.note_unknown("the store does not answer");
    EXPECT_EQ(history.unknown(), "the store does not answer");
}

TEST(LoadHistory, begins_to_watch_again_after_a_gap) {
    LoadHistory history;
    history.note(one_partition(10, 4), 1, at_second(0));
    EXPECT_EQ(history.watched(at_second(90)), seconds(90));

    history.note_unknown("gone");
    history.note(one_partition(10, 4), 1, at_second(100));

    EXPECT_EQ(history.watched(at_second(101)), seconds(1));
}

TEST(LoadHistory, measures_arrivals) {
    LoadHistory history;
    for (int second = 0; second <= 120; ++second) {
        history.note(one_partition(50 * second + 1, 50 * second + 1), 1, at_second(second));
    }

    ASSERT_TRUE(history.arrivals_per_s());
    EXPECT_NEAR(*history.arrivals_per_s(), 50, 0.1);
}

TEST(LoadHistory, measures_an_instance_only_while_it_is_busy) {
    LoadHistory history;
    for (int second = 0; second < 60; ++second) {
        history.note(one_partition(5 * second + 1, 5 * second + 1), 1, at_second(second));
    }
    EXPECT_FALSE(history.instance_per_s(at_second(60))) << "it kept up: it may be able to do more";

    for (int second = 60; second <= 120; ++second) {
        history.note(one_partition(1'000'000, 400 + 80 * (second - 60)), 1, at_second(second));
    }

    ASSERT_TRUE(history.instance_per_s(at_second(120)));
    EXPECT_NEAR(*history.instance_per_s(at_second(120)), 80, 0.1);
}

TEST(LoadHistory, does_not_take_idle_instances_for_slow_ones) {
    LoadHistory history;
    for (int second = 0; second <= 20; ++second) {
        GroupLoad load = one_partition(1'000'000, 1 + 50 * second);
        load.partitions.resize(16);  // the others are empty
        history.note(load, 16, at_second(second));
    }

    EXPECT_FALSE(history.instance_per_s(at_second(20))) << "one partition has one reader";
}

TEST(LoadHistory, learns_that_fewer_instances_fell_behind) {
    LoadHistory history;
    std::int64_t stored = 1000;
    for (int second = 0; second < 60; ++second) {
        stored += 300;
        history.note(one_partition(stored, stored), 3, at_second(second));
    }
    EXPECT_FALSE(history.instance_per_s(at_second(60)));
    history.note(one_partition(stored + 300, stored + 200), 1, at_second(60));
    history.note(one_partition(stored + 600, stored + 400), 1, at_second(61));

    history.note(one_partition(stored + 900, stored + 700), 3, at_second(62));

    ASSERT_TRUE(history.instance_per_s(at_second(62)));
    EXPECT_NEAR(*history.instance_per_s(at_second(62)), 200, 1) << "what it did meanwhile";
}

TEST(LoadHistory, sees_events_that_are_handled_between_two_readings) {
    LoadHistory history;
    history.note(one_partition(100, 100), 1, at_second(0));
    EXPECT_EQ(history.activity().within(seconds(60), at_second(0)), 0);

    history.note(one_partition(105, 105), 1, at_second(2));

    EXPECT_EQ(history.unread().within(seconds(60), at_second(2)), 0);
    EXPECT_EQ(history.activity().within(seconds(60), at_second(2)), 5);
}

TEST(LoadHistory, takes_an_old_measurement_as_too_low) {
    LoadHistory history;
    for (int second = 0; second <= 20; ++second) {
        history.note(one_partition(1'000'000, 1 + 50 * second), 1, at_second(second));
    }

    EXPECT_NEAR(*history.instance_per_s(at_second(20) + hours(6)), 100, 0.5);
}

TEST(LoadHistory, survives_a_hub_that_was_made_again) {
    LoadHistory history;
    history.note(one_partition(1000, 900), 1, at_second(0));
    history.note(one_partition(1100, 1000), 1, at_second(10));

    history.note(one_partition(5, 0), 1, at_second(20));
    history.note(one_partition(25, 0), 1, at_second(22));

    EXPECT_GE(*history.arrivals_per_s(), 0);
    EXPECT_EQ(history.latest().unread, 1) << "nothing of it was read yet";
}

TEST(LoadHistory, takes_a_move_without_end_for_something_else) {
    LoadHistory history;
    GroupLoad load = one_partition(10, 4);
    load.is_moving = true;
    history.note(load, 1, at_second(0));
    history.note(load, 1, at_second(60));

    EXPECT_TRUE(history.is_moving(at_second(60)));
    EXPECT_FALSE(history.is_moving(at_second(0) + minutes(3)));
}

}  // namespace
}  // namespace evenkeel::host
