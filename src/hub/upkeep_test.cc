// Retention through the hub, in virtual time: a segment goes when all its events are older than the
// retention time and it is full.
#include <gtest/gtest.h>

#include "hub/hub_fixture.h"

namespace evenkeel::hub {
namespace {

using namespace std::chrono_literals;

// Segments of four events; retention of an hour, looked at every 10 s.
class RetentionWorld : public HubFixture {
public:
    explicit RetentionWorld(EventHubOptions wanted = {.partitions = 1, .retention = 1h})
        : HubFixture({.segment_bytes_max = 4 * 64}) {
        opened(*this);
        hub->start();
        EXPECT_TRUE(create("h", wanted).ok());
    }
    void append_numbers(int from, int to) {
        for (int i = from; i < to; ++i) {
            EXPECT_TRUE(append("h", 0, {"e" + std::to_string(i)}).ok());
        }
    }
    Bodies bodies() { return *read("h", 0); }
    static Bodies numbers(int from, int to) {
        Bodies all;
        for (int i = from; i < to; ++i) all.push_back("e" + std::to_string(i));
        return all;
    }
};

TEST(Retention, removes_a_full_segment_once_all_its_events_expired) {
    RetentionWorld world;
    world.append_numbers(0, 6);

    world.run_for(1h - 10s);
    EXPECT_EQ(world.bodies(), RetentionWorld::numbers(0, 6));
    world.run_for(30s);

    EXPECT_EQ(world.bodies(), RetentionWorld::numbers(4, 6));
    EXPECT_EQ(world.properties("h", 0).begin_sequence.value, 4);
}

TEST(Retention, still_delivers_expired_events_until_their_segment_is_full) {
    RetentionWorld world;
    world.append_numbers(0, 3);

    world.run_for(5h);
    EXPECT_EQ(world.bodies(), RetentionWorld::numbers(0, 3));
    world.append_numbers(3, 4);  // the segment is full now, but its last event is young
    world.run_for(1h - 10s);
    EXPECT_EQ(world.bodies(), RetentionWorld::numbers(0, 4));
    world.run_for(1min);

    EXPECT_EQ(world.bodies(), Bodies{});
    EXPECT_EQ(world.append("h", 0, {"next"})->first.value, 4);
}

TEST(Retention, keeps_a_segment_whose_last_event_has_not_expired) {
    RetentionWorld world;
    world.append_numbers(0, 3);
    world.run_for(50min);
    world.append_numbers(3, 5);

    world.run_for(50min);
    EXPECT_EQ(world.bodies(), RetentionWorld::numbers(0, 5));
    world.run_for(11min);

    EXPECT_EQ(world.bodies(), RetentionWorld::numbers(4, 5));
}

TEST(Retention, ages_nothing_by_a_step_of_the_wall_clock) {
    RetentionWorld world;
    world.append_numbers(0, 6);

    world.node->loop.set_wall_skew(std::chrono::hours(24 * 365));
    world.run_for(1h - 10s);
    EXPECT_EQ(world.bodies(), RetentionWorld::numbers(0, 6));
    world.run_for(30s);
    EXPECT_EQ(world.bodies(), RetentionWorld::numbers(4, 6));
}

TEST(Retention, keeps_events_longer_when_the_wall_clock_steps_back) {
    RetentionWorld world;
    world.append_numbers(0, 6);

    world.node->loop.set_wall_skew(-30min);
    world.run_for(1h + 1min);
    EXPECT_EQ(world.bodies(), RetentionWorld::numbers(0, 6));
    world.run_for(30min);

    EXPECT_EQ(world.bodies(), RetentionWorld::numbers(4, 6));
}

TEST(Retention, never_lets_enqueued_times_fall) {
    RetentionWorld world;
    const auto first = world.append("h", 0, {"a"});
    world.node->loop.set_wall_skew(-1h);
    const auto second = world.append("h", 0, {"b"});

    EXPECT_GE(second->enqueued, first->enqueued);
}

TEST(Retention, keeps_events_for_ever_if_asked_to) {
    RetentionWorld world({.partitions = 1, .retention = 0ms});
    world.append_numbers(0, 9);

    world.run_for(std::chrono::hours(24 * 30));

    EXPECT_EQ(world.bodies(), RetentionWorld::numbers(0, 9));
}

TEST(Retention, follows_a_change_of_the_time) {
    RetentionWorld world({.partitions = 1, .retention = 24h});
    world.append_numbers(0, 6);
    world.run_for(2h);
    EXPECT_EQ(world.bodies(), RetentionWorld::numbers(0, 6));

    ASSERT_TRUE(world.alter("h", {.retention = 1h}).ok());
    world.run_for(20s);

    EXPECT_EQ(world.bodies(), RetentionWorld::numbers(4, 6));
}

TEST(Retention, removes_the_oldest_segments_of_a_partition_that_has_too_much) {
    RetentionWorld world(
        {.partitions = 1, .retention = 0ms, .partition_bytes_max = 3 * (4 * 64 + 64)});
    world.append_numbers(0, 18);

    world.run_for(20s);

    // Four segments of four and one of two: the last three are within the limit.
    EXPECT_EQ(world.bodies(), RetentionWorld::numbers(8, 18));
}

TEST(Retention, moves_a_slow_reader_to_the_first_event_there_is) {
    RetentionWorld world;
    world.append_numbers(0, 6);
    const auto reader = world.attach("h", 0);

    world.run_for(1h + 1min);

    EXPECT_EQ(*read_on(**reader), RetentionWorld::numbers(4, 6));
    EXPECT_EQ(*world.read("h", 0, Position::at_sequence(0)), RetentionWorld::numbers(4, 6));
}

TEST(Retention, counts_from_the_events_own_times_after_a_restart) {
    RetentionWorld world;
    world.append_numbers(0, 6);
    world.run_for(40min);
    ASSERT_TRUE(world.reopen().ok());
    world.hub->start();

    world.run_for(19min);
    EXPECT_EQ(world.bodies(), RetentionWorld::numbers(0, 6));
    world.run_for(2min);

    EXPECT_EQ(world.bodies(), RetentionWorld::numbers(4, 6));
}

TEST(Retention, ends_with_the_hub) {
    RetentionWorld world;
    world.append_numbers(0, 6);
    world.close();

    EXPECT_TRUE(world.scheduler.run_until_idle(10));
}

}  // namespace
}  // namespace evenkeel::hub
