#include "base/spelling.h"

#include <gtest/gtest.h>

namespace evenkeel {
namespace {

TEST(Spelling, finds_the_word_that_was_meant) {
    EXPECT_EQ(nearest("--secnds", {"--data", "--seconds"}), "--seconds");
    EXPECT_EQ(nearest("lisetn", {"limits", "listen"}), "listen");
    EXPECT_EQ(nearest("demo", {"demo", "dem"}), "demo");
    EXPECT_EQ(nearest("hbu", {"sub", "hub", "bench"}), "hub") << "two letters swapped";
    EXPECT_EQ(nearest("reda", {"send", "read"}), "read");
}

TEST(Spelling, finds_none_where_none_is_near) {
    EXPECT_EQ(nearest("frobnicate", {"data", "listen"}), "");
    EXPECT_EQ(nearest("x", {}), "");
    EXPECT_EQ(nearest("foo", {"log"}), "");
}

}  // namespace
}  // namespace evenkeel
