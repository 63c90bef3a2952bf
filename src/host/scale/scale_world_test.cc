// The scale controller in virtual time, with loads that rise, fall, spike and oscillate.
#include <gtest/gtest.h>

#include "host/scale/scale_world_fixture.h"

namespace evenkeel::host {
namespace {

TEST(SimulatedScale, keeps_the_rules_and_drains_5000_loads) {
    for (std::uint64_t seed = 1; seed <= 5000; ++seed) {
        ScaleWorld world(seed);

        world.run(world.load().length, true, true);
        world.run(world.seconds_to_drain(), false, false);
        ASSERT_EQ(world.violation(), "") << "seed " << seed;
        ASSERT_EQ(world.unread(), 0) << "seed " << seed << ", " << world.describe();

        world.run(600, false, false);
        ASSERT_EQ(world.violation(), "") << "seed " << seed;
        ASSERT_EQ(world.instances(), world.policy().min)
            << "seed " << seed << ", " << world.describe();
    }
}

TEST(SimulatedScale, settles_under_a_steady_load) {
    int most = 0;
    std::uint64_t worst = 0;
    for (std::uint64_t seed = 1; seed <= 500; ++seed) {
        ScaleWorld world(seed);
        world.load().kind = SimulatedLoad::Kind::steady;
        world.run(900, true, false);
        world.count_turns_anew();

        world.run(3600, true, false);

        ASSERT_EQ(world.violation(), "") << "seed " << seed;
        if (world.turns() > most) {
            most = world.turns();
            worst = seed;
        }
    }
    EXPECT_LE(most, 3) << "in an hour of the same load, seed " << worst;
}

}  // namespace
}  // namespace evenkeel::host
