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

}  // namespace
}  // namespace evenkeel::checkpoint
