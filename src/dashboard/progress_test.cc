#include "dashboard/progress.h"

#include <gtest/gtest.h>

namespace evenkeel::dashboard {
namespace {

using checkpoint::Checkpoint;

Checkpoint at(std::int64_t sequence, std::int64_t enqueued_ms) {
    return {.partition = {0}, .sequence = {sequence}, .enqueued_ms = enqueued_ms};
}
constexpr PartitionEnd hundred{
    .begin = 10, .last = 109, .last_enqueued_ms = 90'000, .is_empty = false};

TEST(Progress, counts_events_and_time_behind_the_newest) {
    const auto progress = progress_of(hundred, at(99, 88'500), 60'000);
    EXPECT_EQ(progress.lag, 10);
    EXPECT_EQ(progress.behind_ms, 1500);
    EXPECT_EQ(progress.loss_at_ms, 148'500);
    EXPECT_EQ(progress.lost, 0);
}

TEST(Progress, is_complete_at_the_end) {
    const auto progress = progress_of(hundred, at(109, 90'000), 60'000);
    EXPECT_EQ(progress.lag, 0);
    EXPECT_EQ(progress.behind_ms, 0);
    EXPECT_FALSE(progress.loss_at_ms);
}

TEST(Progress, counts_what_retention_took) {
    const auto progress = progress_of(hundred, at(4, 1000), 0);
    EXPECT_EQ(progress.lost, 5);
    EXPECT_EQ(progress.lag, 100);
    EXPECT_FALSE(progress.loss_at_ms) << "events are kept for ever";
}

TEST(Progress, counts_all_events_of_a_hub_that_was_created_again) {
    PartitionEnd end = hundred;
    end.created_ms = 2000;
    Checkpoint old = at(105, 90'000);
    old.hub_created_ms = 1000;

    const auto progress = progress_of(end, old, 60'000);

    EXPECT_TRUE(progress.is_of_removed_hub);
    EXPECT_EQ(progress.lag, 100);
    EXPECT_EQ(progress.position, -1);
    EXPECT_EQ(progress.lost, 0);
    EXPECT_FALSE(progress.behind_ms);
    EXPECT_FALSE(progress.loss_at_ms);
}

TEST(Progress, counts_all_events_before_an_end_of_an_unknown_hub) {
    const auto progress = progress_of(hundred, at(500, 90'000), 60'000);

    EXPECT_TRUE(progress.is_of_removed_hub);
    EXPECT_EQ(progress.lag, 100);
}

TEST(Progress, stands_still_beyond_the_end_of_the_same_hub) {
    PartitionEnd end = hundred;
    end.created_ms = 1000;
    Checkpoint ahead = at(110, 90'000);
    ahead.hub_created_ms = 1000;

    const auto progress = progress_of(end, ahead, 60'000);

    EXPECT_TRUE(progress.is_beyond_end);
    EXPECT_FALSE(progress.is_of_removed_hub);
    EXPECT_EQ(progress.position, 110);
    EXPECT_FALSE(progress.behind_ms) << "it is not at the end";
    ahead.sequence = {109};
    EXPECT_FALSE(progress_of(end, ahead, 60'000).is_beyond_end);
}

TEST(Progress, does_not_guess_what_it_does_not_know) {
    const auto progress = progress_of(hundred, at(-1, 0), 60'000);
    EXPECT_EQ(progress.lag, 100);
    EXPECT_EQ(progress.lost, 0) << "nobody has read what was before";
    EXPECT_FALSE(progress.behind_ms);
    EXPECT_FALSE(progress.loss_at_ms);
}

}  // namespace
}  // namespace evenkeel::dashboard
