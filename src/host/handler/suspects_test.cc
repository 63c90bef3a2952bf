#include "host/handler/suspects.h"

#include <gtest/gtest.h>

namespace evenkeel::host {
namespace {

Execution events(std::int64_t first, std::int64_t last, std::uint32_t partition = 0) {
    return {.function = "f", .partition = partition, .first = first, .last = last};
}

TEST(Suspects, are_executions_that_an_ended_process_held) {
    Suspects suspects;
    suspects.add(events(10, 19));

    EXPECT_TRUE(suspects.has(events(10, 19)));
    EXPECT_TRUE(suspects.has(events(15, 30))) << "the batch may have another size now";
    EXPECT_FALSE(suspects.has(events(10, 19, 1)));
    EXPECT_FALSE(suspects.has({.function = "g", .first = 10, .last = 19}));
}

TEST(Suspects, are_cleared_by_an_answer) {
    Suspects suspects;
    suspects.add(events(10, 19));

    suspects.answered(events(10, 19));

    EXPECT_FALSE(suspects.has(events(10, 19)));
    EXPECT_TRUE(suspects.empty());
}

TEST(Suspects, stay_until_each_event_of_a_batch_has_passed) {
    Suspects suspects;
    suspects.add(events(10, 12));

    EXPECT_TRUE(suspects.is_to_blame(events(10, 12), false));
    suspects.answered(events(10, 10));
    EXPECT_TRUE(suspects.has(events(11, 11)));
    EXPECT_TRUE(suspects.is_to_blame(events(11, 11), false));
    EXPECT_TRUE(suspects.has(events(12, 12))) << "after 11 was dead-lettered";
    EXPECT_FALSE(suspects.has(events(13, 13)));
    EXPECT_TRUE(suspects.empty());
}

TEST(Suspects, are_excused_once_if_somebody_ended_the_process) {
    Suspects suspects;
    suspects.add(events(1, 1));

    EXPECT_FALSE(suspects.is_to_blame(events(1, 1), true));
    EXPECT_TRUE(suspects.is_to_blame(events(1, 1), true));
}

TEST(Suspects, go_with_their_partition) {
    Suspects suspects;
    suspects.add(events(1, 1));

    suspects.forget("f", 0);

    EXPECT_TRUE(suspects.empty());
}

}  // namespace
}  // namespace evenkeel::host
