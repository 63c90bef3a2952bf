#include "base/utf8.h"

#include <string>

#include <gtest/gtest.h>

namespace evenkeel {
namespace {

TEST(Utf8, is_every_character_that_there_is) {
    for (const std::string_view text :
         {"", "a", "plain text of more than eight bytes", "\u00e4", "Stra\u00dfe im Tal", "\u20ac",
          "\ud7ff\ue000", "\U00010000", "\U0010ffff", "12345678\u20ac12345678"}) {
        EXPECT_TRUE(is_utf8(text)) << text;
    }
    EXPECT_TRUE(is_utf8(std::string_view("\0", 1)));
}

TEST(Utf8, is_not_what_is_cut_overlong_or_beyond_the_last_character) {
    for (const std::string_view text : {"\x80",
                                        "\xbf",
                                        "\xc0\x80",
                                        "\xc1\xbf",
                                        "\xc3",
                                        "\xe2\x82",
                                        "\xe0\x80\x80",
                                        "\xe0\x9f\xbf",
                                        "\xed\xa0\x80",
                                        "\xed\xbf\xbf",
                                        "\xf0\x80\x80\x80",
                                        "\xf0\x8f\xbf\xbf",
                                        "\xf4\x90\x80\x80",
                                        "\xf5\x80\x80\x80",
                                        "\xff",
                                        "\xfe",
                                        "\xe2\x28\xa1",
                                        "1234567\xff",
                                        "12345678\xff",
                                        "\xf0\x9f\x98"}) {
        EXPECT_FALSE(is_utf8(text)) << text.size();
    }
}

TEST(Utf8, tells_how_long_the_first_character_is) {
    EXPECT_EQ(utf8_character_bytes(""), 0u);
    EXPECT_EQ(utf8_character_bytes("ab"), 1u);
    EXPECT_EQ(utf8_character_bytes("\u20acx"), 3u);
    EXPECT_EQ(utf8_character_bytes("\xffx"), 0u);
}

}  // namespace
}  // namespace evenkeel
