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

TEST(Progress, does_not_guess_what_it_does_not_know) {
    const auto progress = progress_of(hundred, at(-1, 0), 60'000);
    EXPECT_EQ(progress.lag, 100);
    EXPECT_EQ(progress.lost, 0) << "nobody has read what was before";
    EXPECT_FALSE(progress.behind_ms);
    EXPECT_FALSE(progress.loss_at_ms);
}

}  // namespace
}  // namespace evenkeel::dashboard
