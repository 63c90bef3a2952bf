#include "checkpoint/memory/table.h"

#include <gtest/gtest.h>

namespace evenkeel::checkpoint {
namespace {

constexpr Moment noon{{1'000'000'000}, {1'000}};

TEST(Table, a_conflict_says_what_was_expected_and_what_is_there) {
    Table table;
    ASSERT_TRUE(table.write_member({.id = "a", .incarnation = "1"}, noon));

    const auto again = table.write_member({.id = "a", .incarnation = "2"}, noon);

    ASSERT_FALSE(again);
    EXPECT_EQ(to_string(again.error()),
              "conflict: member 'a': expected none, the store has version 1");
}

TEST(Table, a_fenced_checkpoint_names_both_epochs) {
    Table table;
    ASSERT_TRUE(table.seal(PartitionId{3}, Epoch{7}, noon));

    const auto written =
        table.write_checkpoint({.partition = {3}, .sequence = {10}, .epoch = {6}}, noon);

    ASSERT_FALSE(written);
    EXPECT_EQ(to_string(written.error()),
              "fenced: checkpoint of partition 3: epoch 6 was replaced by epoch 7");
}

TEST(Table, a_checkpoint_that_would_go_back_names_both_positions) {
    Table table;
    ASSERT_TRUE(table.write_checkpoint(
        {.partition = {3}, .sequence = {10}, .epoch = {6}, .attempts = 2}, noon));

    const auto written =
        table.write_checkpoint({.partition = {3}, .sequence = {9}, .epoch = {6}}, noon);

    ASSERT_FALSE(written);
    EXPECT_EQ(to_string(written.error()),
              "conflict: checkpoint of partition 3: sequence number 9 (attempts 0) is behind the "
              "stored 10 (attempts 2)");
}

TEST(Table, a_seal_that_is_fenced_leaves_no_entry_behind) {
    Table table;
    ASSERT_TRUE(table.seal(PartitionId{1}, Epoch{5}, noon));

    EXPECT_FALSE(table.seal(PartitionId{1}, Epoch{4}, noon));

    ASSERT_EQ(table.checkpoints().size(), 1u);
    EXPECT_EQ(table.checkpoints()[0].epoch, Epoch{5});
}

}  // namespace
}  // namespace evenkeel::checkpoint
