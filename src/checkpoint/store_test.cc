#include "checkpoint/store.h"

#include <gtest/gtest.h>

namespace evenkeel::checkpoint {
namespace {

TEST(GroupName, is_kept_in_lower_case) {
    EXPECT_EQ(lower_cased({"Contoso.Servicebus.Windows.Net", "Homes", "$Default"}),
              (GroupName{"contoso.servicebus.windows.net", "homes", "$default"}));
}

TEST(GroupName, letters_beyond_ascii_stay_as_they_are) {
    EXPECT_EQ(lower_cased({"h",
                           "\xC3\x84"
                           "B",
                           ""}),
              (GroupName{"h",
                         "\xC3\x84"
                         "b",
                         ""}));
}

TEST(Record, has_a_plain_key_and_a_small_value) {
    EXPECT_TRUE(check({"request/drain/0a-b.c", std::string(record_value_bytes_max, '\0')}));
    for (const std::string& key : {std::string(), std::string("A"), std::string("a b"),
                                   std::string("\xC3\xA4"), std::string(201, 'a')}) {
        const auto checked = check({key, "x"});
        ASSERT_FALSE(checked) << key;
        EXPECT_EQ(checked.error().code, ErrorCode::invalid_argument);
    }
    EXPECT_FALSE(check({"a", std::string(record_value_bytes_max + 1, 'x')}));
}

}  // namespace
}  // namespace evenkeel::checkpoint
