#include "host/scale/group_load.h"

#include <limits>

#include <gtest/gtest.h>

namespace evenkeel::host {
namespace {

constexpr std::int64_t greatest = std::numeric_limits<std::int64_t>::max();

TEST(GroupLoad, counts_what_is_stored_and_not_handled) {
    const GroupLoad load{{{.unread = 40, .position = 59, .last = 99},
                          {.unread = 0, .position = 99, .last = 99},
                          {.unread = 0, .position = -1, .last = -1}}};

    const LoadSum sum = sum_of(load, NeverRead::one_event);

    EXPECT_EQ(sum.unread, 40);
    EXPECT_EQ(sum.handled, 59 + 99);
    EXPECT_EQ(sum.stored, 99 + 99);
    EXPECT_EQ(sum.backlogged, 1u);
    EXPECT_EQ(sum.never_read, 0u) << "an empty partition waits for nobody";
    EXPECT_EQ(sum.partitions, 3u);
}

TEST(GroupLoad, counts_a_partition_without_checkpoint_once) {
    const GroupLoad load{{{.unread = 5000, .position = -1, .last = 4999},
                          {.unread = 1, .position = -1, .last = 700}}};

    EXPECT_EQ(sum_of(load, NeverRead::one_event).unread, 2);
    EXPECT_EQ(sum_of(load, NeverRead::one_event).never_read, 2u);
    EXPECT_EQ(sum_of(load, NeverRead::all_events).unread, 5001);
}

TEST(GroupLoad, leaves_out_events_that_retention_removed) {
    const GroupLoad load{{{.unread = 10, .lost = 990, .position = 99, .last = 1099}}};

    const LoadSum sum = sum_of(load, NeverRead::all_events);

    EXPECT_EQ(sum.unread, 10);
    EXPECT_EQ(sum.lost, 990);
}

TEST(GroupLoad, does_not_wrap_around_with_absurd_numbers) {
    const GroupLoad load{
        {{.unread = greatest, .lost = greatest, .position = greatest, .last = greatest},
         {.unread = greatest, .lost = greatest, .position = greatest, .last = greatest},
         {.unread = -5, .lost = -5, .position = 0, .last = 0}}};

    const LoadSum sum = sum_of(load, NeverRead::all_events);

    EXPECT_EQ(sum.unread, greatest);
    EXPECT_EQ(sum.lost, greatest);
    EXPECT_EQ(sum.stored, greatest);
}

}  // namespace
}  // namespace evenkeel::host
