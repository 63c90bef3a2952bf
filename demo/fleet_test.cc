#include "demo/fleet.h"

#include <gtest/gtest.h>

namespace evenkeel::demo {
namespace {

using namespace std::chrono_literals;

class FleetTest : public testing::Test {
protected:
    FleetTest() {
        fleet.add(10);
        fleet.add(11);
        fleet.add(12);
        for (std::size_t i = 0; i < 6; ++i) traffic.partitions[i].owner = i < 3 ? 0 : i < 5 ? 1 : 2;
    }
    Traffic traffic{6};
    Fleet fleet{traffic};
    const Instant start;
};

TEST_F(FleetTest, names_the_living_one_with_the_most_partitions) {
    EXPECT_EQ(fleet.busiest(), 0);
    fleet.stopped(0);
    EXPECT_EQ(fleet.busiest(), 1);
    traffic.partitions[3].owner = 2;
    EXPECT_EQ(fleet.busiest(), 2) << "of equal ones the newest";
    EXPECT_EQ(fleet.living(), 2U);
    EXPECT_EQ(fleet.member(1), 11U);
}

TEST_F(FleetTest, tells_each_take_over_once) {
    EXPECT_EQ(fleet.killed(1, start), 2U);
    EXPECT_EQ(fleet.killed(2, start + 1s), 1U);
    EXPECT_FALSE(fleet.next_taken_over(start + 2s));
    traffic.partitions[5].owner = 0;

    const auto second = fleet.next_taken_over(start + 3s);
    ASSERT_TRUE(second);
    EXPECT_EQ(second->killed, 2);
    EXPECT_EQ(second->after, 2s);
    EXPECT_FALSE(fleet.next_taken_over(start + 3s));
    EXPECT_FALSE(fleet.all_taken_over());

    traffic.partitions[3].owner = traffic.partitions[4].owner = 0;
    EXPECT_EQ(fleet.next_taken_over(start + 4s)->killed, 1);
    EXPECT_TRUE(fleet.all_taken_over());
    EXPECT_EQ(fleet.orphans(), 3U);
}

TEST_F(FleetTest, needs_nobody_for_a_kill_without_partitions) {
    fleet.add(13);
    EXPECT_EQ(fleet.killed(3, start), 0U);
    EXPECT_TRUE(fleet.next_taken_over(start));
    EXPECT_TRUE(fleet.was_killed());
}

}  // namespace
}  // namespace evenkeel::demo
