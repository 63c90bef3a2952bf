#include "host/app/json_file.h"

#include <gtest/gtest.h>

namespace evenkeel::host {
namespace {

std::string problem_of(const Error& error) {
    return error.detail;
}

TEST(JsonFile, names_the_line_of_what_is_not_json) {
    const auto file = JsonFile::parse("host.json", "{\n  \"version\": \"2.0\",\n  oops\n}\n");

    ASSERT_FALSE(file.ok());
    EXPECT_TRUE(problem_of(file.error()).starts_with("host.json:3: this is not JSON"))
        << file.error().detail;
}

TEST(JsonFile, takes_comments_trailing_commas_and_a_mark) {
    const auto file =
        JsonFile::parse("host.json", "\xef\xbb\xbf// mine\n{\"a\": [1, 2,], /* x */}");

    ASSERT_TRUE(file.ok()) << file.error().detail;
    EXPECT_EQ(file->root()["a"].size(), 2u);
}

TEST(JsonFile, refuses_files_that_are_cut_off_or_too_deep) {
    EXPECT_FALSE(JsonFile::parse("f", "").ok());
    EXPECT_FALSE(JsonFile::parse("f", "{\"a\": ").ok());
    EXPECT_FALSE(JsonFile::parse("f", "{} {}").ok());
    EXPECT_FALSE(JsonFile::parse("f", std::string(100'000, '[')).ok());
}

TEST(JsonPlace, names_the_line_and_the_member_that_is_wrong) {
    const auto file =
        JsonFile::parse("host.json",
                        "{\"extensions\": {\n  // \"maxEventBatchSize\": 1\n"
                        "  \"eventHubs\": {\n    \"maxEventBatchSize\":\n      0\n}}}");
    ASSERT_TRUE(file.ok());

    const auto number = file->root()["extensions"]["eventhubs"]["MaxEventBatchSize"].number(1, 10);

    ASSERT_FALSE(number.ok());
    EXPECT_EQ(number.error().detail,
              "host.json:5: extensions.eventhubs.MaxEventBatchSize: must be a whole number from 1 "
              "to 10");
}

TEST(JsonPlace, says_that_a_member_is_missing) {
    const auto file = JsonFile::parse("f/function.json", "{\n\"bindings\": [\n{}, {\"a\": 1}]}");
    ASSERT_TRUE(file.ok());

    EXPECT_EQ(file->root()["bindings"][1]["type"].text().error().detail,
              "f/function.json:3: bindings[1].type: is missing; it must be a string");
}

TEST(JsonPlace, reads_numbers_and_truth_given_as_text) {
    auto file = JsonFile::parse("f", "{\"a\": {\"B\": 1}}");
    ASSERT_TRUE(file.ok());

    file->set({"A", "b"}, "50");
    file->set({"a", "new", "deep"}, "True");

    EXPECT_EQ(file->root()["a"]["b"].number(1, 100).value(), 50u);
    EXPECT_TRUE(file->root()["a"]["new"]["deep"].truth().value());
}

TEST(JsonPlace, lists_the_words_that_are_allowed) {
    const auto file = JsonFile::parse("f", "{\"a\": \"fixed_delay\", \"b\": \"x\"}");
    ASSERT_TRUE(file.ok());

    EXPECT_EQ(file->root()["a"].word({"none", "fixedDelay"}).value(), 1u);
    EXPECT_EQ(file->root()["b"].word({"one", "two", "many"}).error().detail,
              "f:1: b: must be \"one\", \"two\" or \"many\"");
}

TEST(JsonText, gives_the_text_of_a_value_as_it_is) {
    const std::string_view text =
        R"({"Outputs": {"a": {"n": 0.1234567890123456789, "t": "}"}, "b" : [1 ,2]} })";

    EXPECT_EQ(raw_value(text, {"outputs", "a"}), R"({"n": 0.1234567890123456789, "t": "}"})");
    EXPECT_EQ(raw_value(text, {"Outputs", "b", "[1]"}), "2");
    EXPECT_EQ(raw_value(text, {"Outputs", "c"}), "");
}

TEST(RawElements, are_the_texts_of_an_array) {
    EXPECT_EQ(
        raw_elements(R"( [1.10, {"a": [1, "]"]} ,"x\"," ,[ ], null] )"),
        (std::vector<std::string_view>{"1.10", R"({"a": [1, "]"]})", R"("x\",")", "[ ]", "null"}));
    EXPECT_TRUE(raw_elements("[]").empty());
    EXPECT_TRUE(raw_elements(R"({"a": 1})").empty());
}

}  // namespace
}  // namespace evenkeel::host
