#include "processor/host.h"

#include <gtest/gtest.h>

namespace evenkeel::processor {
namespace {

TEST(CloseReason, has_a_word_for_people) {
    EXPECT_EQ(to_string(CloseReason::shutdown), "shutdown");
    EXPECT_EQ(to_string(CloseReason::hand_over), "hand-over");
    EXPECT_EQ(to_string(CloseReason::lost), "lost");
}

}  // namespace
}  // namespace evenkeel::processor
