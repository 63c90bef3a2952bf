#include "host/handler/command_pace.h"

#include <gtest/gtest.h>

namespace evenkeel::host {
namespace {

using std::chrono::milliseconds;

CommandPace a_pace() {
    return CommandPace(
        {.events_min = 4, .events_max = 20, .quick = milliseconds(10), .slow = milliseconds(50)});
}

TEST(CommandPace, grows_while_batches_take_little_time) {
    CommandPace pace = a_pace();

    EXPECT_EQ(pace.events(), 4u);
    pace.took(4, milliseconds(9));
    EXPECT_EQ(pace.events(), 8u);
    pace.took(8, milliseconds(9));
    pace.took(16, milliseconds(9));
    EXPECT_EQ(pace.events(), 20u) << "and not beyond its limit";
}

TEST(CommandPace, shrinks_when_a_batch_takes_long) {
    CommandPace pace = a_pace();
    pace.took(4, milliseconds(1));

    pace.took(8, milliseconds(51));
    EXPECT_EQ(pace.events(), 4u);
    pace.took(4, milliseconds(51));
    EXPECT_EQ(pace.events(), 4u) << "and not below its limit";
}

TEST(CommandPace, stays_between_quick_and_slow) {
    CommandPace pace = a_pace();

    pace.took(4, milliseconds(10));
    pace.took(4, milliseconds(50));

    EXPECT_EQ(pace.events(), 4u);
}

TEST(CommandPace, learns_nothing_from_a_batch_that_was_not_full) {
    CommandPace pace = a_pace();

    pace.took(3, milliseconds(1));

    EXPECT_EQ(pace.events(), 4u);
}

}  // namespace
}  // namespace evenkeel::host
