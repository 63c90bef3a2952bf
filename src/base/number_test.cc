#include "base/number.h"

#include <cstdint>

#include <gtest/gtest.h>

namespace evenkeel {
namespace {

TEST(ParseNumber, reads_the_whole_range_of_its_type) {
    EXPECT_EQ(parse_number<std::uint16_t>("65535"), 65535);
    EXPECT_EQ(parse_number<std::int64_t>("-9223372036854775808"), INT64_MIN);
    EXPECT_EQ(parse_number<std::uint64_t>("18446744073709551615"), UINT64_MAX);
    EXPECT_EQ(parse_number<std::uint8_t>("fF", 16), 255);
}

TEST(ParseNumber, refuses_numbers_out_of_range) {
    EXPECT_EQ(parse_number<std::uint16_t>("65536"), std::nullopt);
    EXPECT_EQ(parse_number<std::uint16_t>("-1"), std::nullopt);
    EXPECT_EQ(parse_number<std::int64_t>("9223372036854775808"), std::nullopt);
}

TEST(ParseNumber, refuses_anything_beside_the_number) {
    for (const auto* const bad : {"", " 1", "1 ", "+1", "1x", "x", "0x10", "1.0"}) {
        EXPECT_EQ(parse_number<int>(bad), std::nullopt) << bad;
    }
}

TEST(ParseNumber, reads_fractions) {
    EXPECT_EQ(parse_number<double>("-2.5"), -2.5);
    EXPECT_EQ(parse_number<double>("2.5s"), std::nullopt);
    EXPECT_EQ(parse_number<double>(""), std::nullopt);
}

TEST(TakeNumber, takes_the_number_off_the_text) {
    std::string_view text = "12 MiB";
    EXPECT_EQ(take_number<std::uint64_t>(text), 12U);
    EXPECT_EQ(text, " MiB");
}

TEST(TakeNumber, leaves_a_text_without_a_good_number_alone) {
    for (const std::string_view bad : {"", "x1", "-1", "256"}) {
        std::string_view text = bad;
        EXPECT_EQ(take_number<std::uint8_t>(text), std::nullopt) << bad;
        EXPECT_EQ(text, bad);
    }
}

TEST(ReadNumber, keeps_the_old_value_on_failure) {
    std::int64_t value = 7;

    EXPECT_FALSE(read_number("12x", value));
    EXPECT_EQ(value, 7);
    EXPECT_TRUE(read_number("12", value));
    EXPECT_EQ(value, 12);
}

}  // namespace
}  // namespace evenkeel
