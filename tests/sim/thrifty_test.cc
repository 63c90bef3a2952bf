// The timing for stores that want few requests (checkpoint::Pace): what it costs, and how long the
// others wait for one that died. docs/stores.md has these figures.
#include <gtest/gtest.h>

#include "sim/balance_world.h"
#include "support/seed.h"

namespace evenkeel::sim {
namespace {

using namespace std::chrono_literals;

constexpr int instances = 8;
constexpr std::uint32_t partitions = 32;

class Thrifty : public testing::Test {
protected:
    Thrifty() {
        for (int i = 0; i < instances; ++i) world_.start(id(i));
        EXPECT_TRUE(world_.run_until_balanced(5s)) << world_.describe();
        world_.run_for(3min);  // nobody looks often any more
    }
    ~Thrifty() override { EXPECT_EQ(world_.violations(), ""); }

    static std::string id(int i) { return "p" + std::to_string(i); }

    BalanceWorld world_{{.seed = test::test_seed(),
                         .partitions = partitions,
                         .timing = processor::thrifty_timing()}};
};

// Members and ownerships count as two here; such a store lists them at once.
TEST_F(Thrifty, a_calm_group_asks_the_store_six_times_a_minute) {
    const std::uint64_t before = world_.requests();

    world_.run_for(20min);

    const double each = static_cast<double>(world_.requests() - before) / (20.0 * instances);
    EXPECT_LE(each, 6.0);
    EXPECT_GE(each, 5.0);
}

TEST_F(Thrifty, the_dead_are_replaced_in_two_minutes) {
    world_.crash(id(3));
    world_.mark();

    EXPECT_TRUE(world_.run_until_balanced(3min)) << world_.describe();

    EXPECT_LE(world_.figures().worst_gap, 110s);
    EXPECT_LE(world_.figures().moves, partitions / instances);
}

TEST_F(Thrifty, a_newcomer_is_seen_at_the_next_look_of_each) {
    world_.start("new");
    world_.mark();

    EXPECT_TRUE(world_.run_until_balanced(65s)) << world_.describe();

    EXPECT_LE(world_.figures().worst_gap, 3s);
    EXPECT_LE(world_.figures().moves, partitions / (instances + 1));
}

TEST_F(Thrifty, what_one_hands_over_is_read_after_the_next_look) {
    world_.mark();
    world_.leave(id(5));

    world_.run_for(10s);
    EXPECT_FALSE(world_.is_running(id(5)));
    EXPECT_TRUE(world_.run_until_balanced(60s)) << world_.describe();

    EXPECT_LE(world_.figures().worst_gap, 55s);
}

}  // namespace
}  // namespace evenkeel::sim
