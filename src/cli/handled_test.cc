#include "cli/handled.h"

#include <gtest/gtest.h>

namespace evenkeel::cli {
namespace {

TEST(HandledLine, is_read_as_it_was_written) {
    const auto batch = parse_handled("3 7 100 199 2 1700000000123", 4);

    ASSERT_TRUE(batch);
    EXPECT_EQ(batch->processor, 4u);
    EXPECT_EQ(batch->partition, 3u);
    EXPECT_EQ(batch->epoch, 7);
    EXPECT_EQ(batch->first, 100);
    EXPECT_EQ(batch->last, 199);
    EXPECT_EQ(batch->wrong, 2u);
    EXPECT_EQ(batch->at_ms, 1700000000123);
}

TEST(HandledLine, that_is_something_else_is_refused) {
    for (const char* line : {"", "x", "1 2 3 4 5", "1 2 3 4 5 6 7", "1 2 5 4 0 0", "-1 2 3 4 0 0",
                             "1  2 3 4 0 0", "1 2 3 4 0 0 "}) {
        EXPECT_FALSE(parse_handled(line, 0)) << line;
    }
}

HandledBatch a_batch(std::uint32_t processor, std::int64_t epoch, std::int64_t first,
                     std::int64_t last, std::int64_t at_ms = 0) {
    return {processor, 0, epoch, first, last, 0, at_ms};
}

TEST(Handled, counts_each_event_once) {
    Handled handled;
    handled.add(a_batch(0, 1, 0, 9));
    handled.add(a_batch(0, 1, 10, 19));
    handled.add(a_batch(1, 2, 15, 29));

    EXPECT_EQ(handled.summary().handled, 30u);
    EXPECT_EQ(handled.missing(0, 30), 0u);
    EXPECT_EQ(handled.missing(0, 40), 10u);
    EXPECT_EQ(handled.missing(1, 5), 5u);
}

TEST(Handled, finds_a_gap_whoever_left_it) {
    Handled handled;
    handled.add(a_batch(0, 1, 0, 9));
    handled.add(a_batch(1, 2, 12, 20));

    EXPECT_EQ(handled.missing(0, 21), 2u);
}

TEST(Handled, sees_an_owner_that_skips_or_steps_back) {
    Handled handled;
    handled.add(a_batch(0, 1, 0, 9));
    handled.add(a_batch(0, 1, 12, 19));
    handled.add(a_batch(0, 1, 5, 9));

    EXPECT_EQ(handled.summary().out_of_order, 2u);
}

TEST(Handled, sees_two_owners_of_one_epoch) {
    Handled handled;
    handled.add(a_batch(0, 1, 0, 9));
    handled.add(a_batch(1, 1, 10, 19));

    EXPECT_EQ(handled.summary().out_of_order, 1u);
}

TEST(Handled, tells_repeats_at_a_crash_from_repeats_at_a_hand_over) {
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

TEST(Handled, counts_what_was_handed_over_before_the_kill_as_handed_over) {
    Handled handled;
    handled.add(a_batch(0, 1, 0, 99, 1000));
    handled.add(a_batch(1, 2, 99, 199, 1400));
    handled.killed(0, 1500);

    EXPECT_EQ(handled.summary().repeated_at_handover, 1u);
    EXPECT_EQ(handled.summary().repeated_at_crash, 0u);
    EXPECT_FALSE(handled.summary().failover_seconds);
}

TEST(Handled, knows_no_failover_time_while_a_partition_is_not_back) {
    Handled handled;
    handled.add(a_batch(0, 1, 0, 99, 1000));
    handled.killed(0, 1500);

    EXPECT_FALSE(handled.summary().failover_seconds);
}

TEST(Handled, names_the_last_owner) {
    Handled handled;
    handled.add(a_batch(0, 1, 0, 99, 1000));
    handled.add(a_batch(2, 4, 100, 120, 1200));

    const auto owner = handled.owner(0);
    ASSERT_TRUE(owner);
    EXPECT_EQ(owner->processor, 2u);
    EXPECT_EQ(owner->epoch, 4);
    EXPECT_EQ(owner->last, 120);
    EXPECT_FALSE(handled.owner(1));
}

}  // namespace
}  // namespace evenkeel::cli
