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

TEST(Trimmed, drops_blanks_at_both_ends_only) {
    EXPECT_EQ(trimmed(" \ta b\t "), "a b");
    EXPECT_EQ(trimmed("a"), "a");
    EXPECT_EQ(trimmed(" \t "), "");
    EXPECT_EQ(trimmed(""), "");
    EXPECT_EQ(trimmed("\n a\t\n", " \n"), "a\t");
}

TEST(Printable, replaces_control_characters_and_broken_utf8) {
    EXPECT_EQ(printable("höhe 日本 😀"), "höhe 日本 😀");
    EXPECT_EQ(printable("a\nb\xff\xc3z\x1b\x7f"), "a?b??z??");
    EXPECT_EQ(printable("\xc2\x9b\xc2\x85\xc2\xa0"), "????\xc2\xa0");
}

TEST(Printable, has_no_character_that_turns_text) {
    EXPECT_EQ(printable("a\u202eb\u2066c\u200fd\u061ce"), "a???b???c???d??e");
    EXPECT_EQ(printable("\u2029\u202f\u2065"), "\u2029\u202f\u2065") << "their neighbours stay";
}

TEST(Visible, shows_what_a_terminal_would_obey) {
    EXPECT_EQ(visible("a\tb\nc"), "a\tb\nc");
    EXPECT_EQ(visible("höhe 日本 😀"), "höhe 日本 😀");
    EXPECT_EQ(visible("\x1b[2J\r\x07"), "\\x1b[2J\\x0d\\x07");
    EXPECT_EQ(visible("\xc2\x9b\x7f\xff"), "\\x9b\\x7f\\xff");
    EXPECT_EQ(visible("\u202eabc\u2069"), "\\u202eabc\\u2069");
    EXPECT_EQ(visible("a\0b"s), "a\\x00b");
}

TEST(JsonWithoutControls, escapes_them_inside_strings) {
    EXPECT_EQ(json_without_controls("{\n  \"a\": \"x\xc2\x9by\u202e\x7f\"\n}\n"),
              "{\n  \"a\": \"x\\u009by\\u202e\\u007f\"\n}\n");
}

TEST(Printable, is_cut_between_characters) {
    EXPECT_EQ(printable(std::string(1000, 'x')).size(), 1000u);
    EXPECT_EQ(printable(std::string(1000, 'x'), 300).size(), 300u);
    EXPECT_EQ(printable("aéb", 2), "a");
    EXPECT_EQ(printable("aéb", 3), "aé");
    EXPECT_EQ(printable("a", 0), "");
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
