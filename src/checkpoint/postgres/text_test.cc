#include "checkpoint/postgres/text.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "support/seed.h"

namespace evenkeel::checkpoint {
namespace {

TEST(PostgresText, ordinary_names_stay_as_they_are) {
    EXPECT_EQ(to_postgres_text("host-7:1234 '\"\n"), "host-7:1234 '\"\n");
    EXPECT_EQ(to_postgres_text("\xC3\xA4\xE2\x82\xAC\xF0\x9F\x8C\x8A"),
              "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x8C\x8A");
    EXPECT_EQ(to_postgres_text(""), "");
}

TEST(PostgresText, what_postgresql_cannot_keep_is_escaped) {
    EXPECT_EQ(to_postgres_text(std::string_view("a\0b", 3)), "a\\x00b");
    EXPECT_EQ(to_postgres_text("\\x00"), "\\\\x00");
    EXPECT_EQ(to_postgres_text("\xff\xC3"), "\\xff\\xc3");
    EXPECT_EQ(to_postgres_text("\xC0\x80"), "\\xc0\\x80") << "overlong";
    EXPECT_EQ(to_postgres_text("\xED\xA0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
    EXPECT_EQ(to_postgres_text("\xF5\x80\x80\x80"), "\\xf5\\x80\\x80\\x80") << "too large";
}

TEST(PostgresText, any_bytes_come_back) {
    Random random(test::test_seed());
    for (int i = 0; i < 2000; ++i) {
        std::string bytes(random.below(12), '\0');
        for (char& c : bytes) {
            c = random.chance(1, 3) ? "\\x0a\xC3\xA4\xED"[random.below(7)]
                                    : static_cast<char>(random.below(256));
        }
        EXPECT_EQ(from_postgres_text(to_postgres_text(bytes)), bytes);
    }
}

TEST(PostgresText, text_of_others_is_left_as_it_is) {
    EXPECT_EQ(from_postgres_text("a\\b\\xzz\\x1"), "a\\b\\xzz\\x1");
    EXPECT_EQ(from_postgres_text("\\"), "\\");
}

TEST(PostgresText, bytes_are_hexadecimal) {
    const std::vector<std::byte> bytes = {std::byte{0}, std::byte{0x53}, std::byte{0xff}};
    EXPECT_EQ(to_postgres_bytes(bytes), "\\x0053ff");
    EXPECT_EQ(from_postgres_bytes("\\x0053ff"), bytes);
    EXPECT_TRUE(from_postgres_bytes("\\x").empty());
    EXPECT_TRUE(from_postgres_bytes("0053").empty());
    EXPECT_EQ(from_postgres_bytes("\\x00zz").size(), 1u);
}

TEST(PostgresArray, quotes_text_and_leaves_numbers) {
    PostgresArray array;
    EXPECT_EQ(array.take(), "{}");
    array.add_plain("1");
    array.add_plain("-2");
    EXPECT_EQ(array.take(), "{1,-2}");
    array.add_quoted("a\"b\\");
    array.add_quoted("");
    array.add_quoted("NULL");
    EXPECT_EQ(array.take(), R"({"a\"b\\","","NULL"})");
}

}  // namespace
}  // namespace evenkeel::checkpoint
