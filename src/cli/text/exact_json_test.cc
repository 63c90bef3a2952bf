#include "cli/text/exact_json.h"

#include <bit>
#include <cmath>

#include <boost/json.hpp>
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/random.h"

namespace evenkeel::cli {
namespace {

TEST(ExactJson, gives_back_every_double_that_was_written) {
    Random random(20260301);
    int checked = 0;
    for (int i = 0; i < 100'000; ++i) {
        const auto number = std::bit_cast<double>(random.next());
        if (!std::isfinite(number)) continue;

        const auto value = parse_json(fmt::format("[{}]", number));

        ASSERT_TRUE(value.ok()) << value.error().detail;
        ASSERT_EQ(value->as_array()[0].to_number<double>(), number) << number;
        ++checked;
    }
    EXPECT_GT(checked, 90'000);
    EXPECT_TRUE(std::signbit(parse_json("-0")->as_double()));
}

TEST(ExactJson, reads_all_kinds_of_values) {
    const auto value = parse_json(
        R"( {"a":[1,-2,18446744073709551615,2.5,1e400,true,false,null,"x\n\u00e9"],"b":{}} )");

    ASSERT_TRUE(value.ok()) << value.error().detail;
    const auto& list = value->at("a").as_array();
    EXPECT_EQ(list[0].as_int64(), 1);
    EXPECT_EQ(list[1].as_int64(), -2);
    EXPECT_EQ(list[2].as_uint64(), 18446744073709551615u);
    EXPECT_EQ(list[3].as_double(), 2.5);
    EXPECT_TRUE(std::isinf(list[4].as_double()));
    EXPECT_TRUE(list[5].as_bool());
    EXPECT_TRUE(list[7].is_null());
    EXPECT_EQ(list[8].as_string(), "x\n\xc3\xa9");
    EXPECT_TRUE(value->at("b").as_object().empty());
}

TEST(ExactJson, refuses_what_is_no_json_text) {
    for (const std::string_view text :
         {"", " ", "{", "[1,]", "nan", "{} {}", "\"\xff\"", "'a'", "01", "\"\n\""}) {
        EXPECT_FALSE(parse_json(text).ok()) << text;
    }
    EXPECT_FALSE(parse_json(std::string(100, '[') + std::string(100, ']')).ok()) << "too deep";
}

}  // namespace
}  // namespace evenkeel::cli
