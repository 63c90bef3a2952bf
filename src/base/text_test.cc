#include "base/text.h"

#include <gtest/gtest.h>

namespace evenkeel {
namespace {

using namespace std::string_literals;

TEST(LowerCase, changes_only_ascii_letters) {
    EXPECT_EQ(lower_case("Homes-EU.7/Z_a@["), "homes-eu.7/z_a@[");
    EXPECT_NE(lower_case("É"), lower_case("é"));
}

TEST(EqualWithoutCase, compares_ascii_letters_without_case) {
    EXPECT_TRUE(equal_without_case("", ""));
    EXPECT_TRUE(equal_without_case("Content-LENGTH", "content-length"));
    EXPECT_FALSE(equal_without_case("a", "ab"));
    EXPECT_FALSE(equal_without_case("a", "b"));
    EXPECT_FALSE(equal_without_case("@", "`"));
    EXPECT_FALSE(equal_without_case("É", "é"));
}

TEST(Shown, is_short_and_free_of_control_characters) {
    EXPECT_EQ(shown("plain"), "plain");
    EXPECT_EQ(shown("a\0b\n\x1b\x7f"s), "a?b???");
    const std::string whole(64, 'x');
    EXPECT_EQ(shown(whole), whole);
    EXPECT_EQ(shown(whole + "x"), whole + "...");
}

TEST(Shown, is_always_whole_utf8) {
    EXPECT_EQ(shown("höhe 日本 😀"), "höhe 日本 😀");
    EXPECT_EQ(shown("\xff\xc3x\xe6\x97"), "??x??");
    EXPECT_EQ(shown("\xc0\xaf \xed\xa0\x80"), "?? ???");  // overlong, and half of a pair
    const std::string front(63, 'x');
    EXPECT_EQ(shown(front + "é"), front + "...");
}

}  // namespace
}  // namespace evenkeel
