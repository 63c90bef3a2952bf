#include "base/result.h"

#include <memory>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace evenkeel {
namespace {

Error an_error() {
    return {ErrorCode::not_found, "open a.seg: no such file"};
}

Result<std::string> text_or(bool fails) {
    if (fails) return an_error();
    return std::string("text");
}

Result<> nothing_or(bool fails) {
    if (fails) return an_error();
    return {};
}

TEST(Result, holds_a_value) {
    Result<std::string> result = std::string("text");

    EXPECT_TRUE(result.ok());
    EXPECT_TRUE(static_cast<bool>(result));
    EXPECT_EQ(*result, "text");
    EXPECT_EQ(result->size(), 4u);
    EXPECT_EQ(result.value(), "text");
}

TEST(Result, holds_an_error) {
    const Result<std::string> result = an_error();

    EXPECT_FALSE(result.ok());
    EXPECT_FALSE(static_cast<bool>(result));
    EXPECT_EQ(result.error().code, ErrorCode::not_found);
    EXPECT_EQ(result.error().detail, "open a.seg: no such file");
}

TEST(Result, of_nothing_is_good_or_an_error) {
    EXPECT_TRUE(nothing_or(false).ok());
    EXPECT_EQ(nothing_or(true).error().code, ErrorCode::not_found);
}

TEST(Result, gives_its_value_away_without_a_copy) {
    Result<std::unique_ptr<int>> result = std::make_unique<int>(7);

    const std::unique_ptr<int> taken = std::move(*result);

    EXPECT_EQ(*taken, 7);
}

// for (auto& x : call().value()) is common; until C++23 it keeps only the last temporary alive.
TEST(Result, of_a_call_keeps_its_value_for_a_whole_loop) {
    std::string seen;

    for (const char each : text_or(false).value()) seen += each;
    for (const char each : *text_or(false)) seen += each;

    EXPECT_EQ(seen, "texttext");
    static_assert(std::is_same_v<decltype(text_or(false).value()), std::string>);
    static_assert(std::is_same_v<decltype(*text_or(false)), std::string>);
}

TEST(ResultDeathTest, the_wrong_side_ends_the_process_and_says_why) {
    Result<int> failed = an_error();
    const Result<int> good = 1;
    const Result<> good_nothing;

    EXPECT_DEATH((void)*failed, "not_found: open a.seg: no such file");
    EXPECT_DEATH((void)good.error(), "error\\(\\) of a good Result");
    EXPECT_DEATH((void)good_nothing.error(), "error\\(\\) of a good Result");
    EXPECT_DEATH(nothing_or(true).value(), "not_found");
}

TEST(Try, passes_an_error_up_at_once) {
    int reached = 0;
    const auto work = [&](bool fails) -> Result<int> {
        EK_TRY(nothing_or(fails));
        EK_TRY(text_or(false));
        return ++reached;
    };

    EXPECT_EQ(*work(false), 1);
    EXPECT_EQ(work(true).error().detail, an_error().detail);
    EXPECT_EQ(reached, 1);
}

TEST(Try, binds_the_value_or_passes_the_error_up) {
    const auto work = [](bool first_fails, bool second_fails) -> Result<std::string> {
        EK_TRY_ASSIGN(const auto first, text_or(first_fails));
        std::string second;
        EK_TRY_ASSIGN(second, text_or(second_fails));
        return first + second;
    };

    EXPECT_EQ(*work(false, false), "texttext");
    EXPECT_EQ(work(true, false).error().code, ErrorCode::not_found);
    EXPECT_EQ(work(false, true).error().code, ErrorCode::not_found);
}

TEST(Try, moves_what_cannot_be_copied) {
    const auto make = []() -> Result<std::unique_ptr<int>> { return std::make_unique<int>(7); };
    const auto work = [&]() -> Result<int> {
        EK_TRY_ASSIGN(const auto value, make());
        return *value;
    };

    EXPECT_EQ(*work(), 7);
}

TEST(Error, is_written_with_its_code) {
    EXPECT_EQ(to_string(an_error()), "not_found: open a.seg: no such file");
}

TEST(Error, every_code_has_its_own_name) {
    std::set<std::string_view> names;
    for (int code = 0; code <= static_cast<int>(ErrorCode::corrupt); ++code) {
        names.insert(to_string(static_cast<ErrorCode>(code)));
    }

    EXPECT_EQ(names.size(), static_cast<std::size_t>(ErrorCode::corrupt) + 1);
    EXPECT_EQ(names.count("unknown"), 0u);
}

TEST(Error, only_what_may_pass_is_retriable) {
    EXPECT_TRUE(is_retriable({ErrorCode::overloaded, ""}));
    EXPECT_TRUE(is_retriable({ErrorCode::unavailable, ""}));
    EXPECT_TRUE(is_retriable({ErrorCode::timed_out, ""}));
    EXPECT_FALSE(is_retriable({ErrorCode::fenced, ""}));
    EXPECT_FALSE(is_retriable({ErrorCode::corrupt, ""}));
    EXPECT_FALSE(is_retriable({ErrorCode::conflict, ""}));
}

}  // namespace
}  // namespace evenkeel
