#include "eventhubs/names.h"

#include <gtest/gtest.h>

namespace evenkeel::eventhubs {
namespace {

using namespace std::string_literals;

TEST(EventHubName, takes_letters_digits_and_the_four_signs) {
    for (const auto& name : {"a"s, "7"s, "homes"s, "Homes.eu-west_1/all"s, "a..b"s, "a//b"s,
                             std::string(event_hub_name_bytes_max, 'x')}) {
        EXPECT_TRUE(check_event_hub_name(name).ok()) << name;
    }
}

TEST(EventHubName, refuses_paths_blanks_and_control_characters) {
    const std::string names[] = {"",
                                 "../x",
                                 "..",
                                 ".",
                                 ".hidden",
                                 "/etc/passwd",
                                 "a/",
                                 "/a",
                                 "x/..",
                                 "a\\b",
                                 "a b",
                                 " a",
                                 "a ",
                                 "a\0b"s,
                                 "\0"s,
                                 "a\n",
                                 "\x1b[31m",
                                 "\x7f",
                                 "C:",
                                 "%2e%2e%2fx",
                                 "höhe",
                                 "日本",
                                 "\xff\xfe",
                                 "-a",
                                 "a-",
                                 "_a",
                                 "a_",
                                 "a.",
                                 "$Default",
                                 "$cbs",
                                 "a:b",
                                 "a*",
                                 "a?",
                                 "a|b",
                                 "a'b",
                                 "a\"b",
                                 "a;b",
                                 std::string(event_hub_name_bytes_max + 1, 'x'),
                                 std::string(300, 'x')};
    for (const auto& name : names) {
        const auto checked = check_event_hub_name(name);
        ASSERT_FALSE(checked.ok()) << name;
        EXPECT_EQ(checked.error().code, ErrorCode::invalid_argument);
    }
}

TEST(EventHubName, error_says_what_is_wrong_and_what_is_allowed) {
    EXPECT_EQ(check_event_hub_name("").error().detail, "event hub has no name; give it one");
    EXPECT_EQ(check_event_hub_name("../x").error().detail,
              "event hub name '../x' is not allowed; use letters, digits and '.-_/', beginning and "
              "ending with a letter or digit");
    const std::string front(64, 'x');
    EXPECT_EQ(check_event_hub_name(std::string(300, 'x')).error().detail,
              "event hub name '" + front + "...' has 300 characters; at most 256 are allowed");
}

TEST(GroupName, takes_what_an_event_hub_may_have_but_no_slash) {
    EXPECT_TRUE(check_group_name("reports-2026_a.b").ok());
    EXPECT_TRUE(check_group_name(std::string(50, 'x')).ok());
    EXPECT_FALSE(check_group_name(std::string(51, 'x')).ok());
    EXPECT_FALSE(check_group_name("a/b").ok());
    EXPECT_FALSE(check_group_name("").ok());
    EXPECT_FALSE(check_group_name("a\0"s).ok());
}

TEST(GroupName, takes_the_default_group_in_any_case) {
    EXPECT_TRUE(check_group_name("$Default").ok());
    EXPECT_TRUE(check_group_name("$default").ok());
    EXPECT_FALSE(check_group_name("$Default2").ok());
    EXPECT_FALSE(check_group_name("$").ok());
}

TEST(PartitionKeyName, is_limited_in_characters_not_bytes) {
    std::string key;
    for (int i = 0; i < 128; ++i) key += "日";

    EXPECT_TRUE(check_partition_key(key).ok());
    EXPECT_EQ(check_partition_key(key + "x").error().code, ErrorCode::invalid_argument);
    EXPECT_TRUE(check_partition_key("any \0 byte\n"s).ok());
}

TEST(PartitionKeyName, is_utf8) {
    EXPECT_TRUE(check_partition_key("k\u00e4se").ok());
    EXPECT_EQ(check_partition_key("k\xe4se").error().code, ErrorCode::invalid_argument);
}

TEST(PartitionKeyName, refuses_endless_continuation_bytes) {
    EXPECT_FALSE(check_partition_key(std::string(100'000, '\x80')).ok());
}

TEST(FoldedName, ignores_the_case_of_ascii_letters) {
    EXPECT_EQ(folded("Homes-EU.7/Z_a"), "homes-eu.7/z_a");
    EXPECT_EQ(folded("HOMES"), folded("homes"));
    EXPECT_NE(folded("É"), folded("é"));
}

}  // namespace
}  // namespace evenkeel::eventhubs
