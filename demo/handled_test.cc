#include "demo/handled.h"

#include <gtest/gtest.h>

namespace evenkeel::demo {
namespace {

HandledBatch a_batch(std::uint32_t processor, std::int64_t epoch, std::int64_t first,
                     std::int64_t last, std::int64_t at_ms = 0) {
    return {processor, 0, epoch, first, last, at_ms};
}

TEST(Handled, detects_gaps_and_steps_back) {
    Handled handled;
    handled.add(a_batch(0, 1, 0, 9));
    handled.add(a_batch(0, 1, 12, 19));
    handled.add(a_batch(0, 1, 5, 9));

    EXPECT_EQ(handled.summary().out_of_order, 2u);
}

TEST(Handled, detects_two_owners_of_one_epoch) {
    Handled handled;
    handled.add(a_batch(0, 1, 0, 9));
    handled.add(a_batch(1, 1, 10, 19));

    EXPECT_EQ(handled.summary().out_of_order, 1u);
}

TEST(Handled, detects_an_owner_active_after_its_successor) {
    Handled handled;
    handled.add(a_batch(0, 1, 0, 99, 1000));
    handled.add(a_batch(1, 2, 100, 199, 1500));
    EXPECT_EQ(handled.summary().past_fence, 0u);

    handled.add(a_batch(0, 1, 100, 110, 1501));

    EXPECT_EQ(handled.summary().past_fence, 1u);
}

TEST(Handled, separates_crash_from_hand_over_repeats) {
    Handled handled;
    handled.add(a_batch(0, 1, 0, 99, 1000));
    handled.killed(0, 1500);
    handled.add(a_batch(1, 2, 90, 199, 4000));
    handled.add(a_batch(2, 3, 198, 250, 4200));

    const auto summary = handled.summary();
    EXPECT_EQ(summary.repeated_at_crash, 10u);
    EXPECT_EQ(summary.repeated_at_handover, 2u);
    EXPECT_EQ(summary.handovers, 1u);
    EXPECT_EQ(summary.failover_seconds, 2.5);
    EXPECT_DOUBLE_EQ(summary.handover_gap_seconds_max, 0.2);
}

TEST(Handled, counts_hand_overs_before_a_kill) {
    Handled handled;
    handled.add(a_batch(0, 1, 0, 99, 1000));
    handled.add(a_batch(1, 2, 99, 199, 1400));
    handled.killed(0, 1500);

    EXPECT_EQ(handled.summary().repeated_at_handover, 1u);
    EXPECT_EQ(handled.summary().repeated_at_crash, 0u);
    EXPECT_FALSE(handled.summary().failover_seconds);
}

TEST(Handled, has_no_failover_time_until_all_are_back) {
    Handled handled;
    handled.add(a_batch(0, 1, 0, 99, 1000));
    handled.killed(0, 1500);

    EXPECT_FALSE(handled.summary().failover_seconds);
}

}  // namespace
}  // namespace evenkeel::demo
