#include "processor/ownership/settling.h"

#include <gtest/gtest.h>

#include "processor/time_fixture.h"

namespace evenkeel::processor {
namespace {

TEST(Settling, is_calm_once_nobody_has_joined_for_a_while) {
    const Timing timing;
    Settling settling(timing);
    settling.start(start);

    const Instant joined = start + timing.settle;
    EXPECT_TRUE(settling.is_calm(joined));
    settling.on_change({.joined = true}, joined);

    EXPECT_FALSE(settling.is_calm(joined + timing.settle - Duration(1)));
    EXPECT_TRUE(settling.is_calm(joined + timing.settle));
}

TEST(Settling, waits_for_loads_once_a_heartbeat) {
    const Timing timing;
    Settling settling(timing);
    settling.start(start);

    const Instant changed = start + timing.heartbeat;
    settling.on_loads_changed(changed);
    settling.on_loads_changed(changed + timing.settle);

    EXPECT_FALSE(settling.is_calm(changed));
    EXPECT_TRUE(settling.is_calm(changed + timing.settle));
}

TEST(Settling, a_leaving_member_waits_three_times_at_most) {
    const Timing timing;
    Settling settling(timing);
    settling.start(start);

    settling.leave(start);
    EXPECT_EQ(settling.gives_from(), start + timing.settle);
    settling.on_change({.leaves = true}, start + timing.settle);
    EXPECT_EQ(settling.gives_from(), start + 2 * timing.settle);
    settling.on_change({.joined = true}, start + 10 * timing.settle);

    EXPECT_EQ(settling.gives_from(), start + 3 * timing.settle);
}

}  // namespace
}  // namespace evenkeel::processor
