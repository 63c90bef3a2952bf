#include "base/time_text.h"

#include <gtest/gtest.h>

namespace evenkeel {
namespace {

TEST(TimeText, reads_dates_and_times) {
    for (const char* text : {"2026-03-02T09:14:00.123Z", "2026-03-02 09:14:00.123"}) {
        ASSERT_TRUE(parse_wall_time(text)) << text;
        EXPECT_EQ(to_string(*parse_wall_time(text)), "2026-03-02T09:14:00.123Z");
    }
    EXPECT_EQ(to_string(*parse_wall_time("2026-03-02")), "2026-03-02T00:00:00.000Z");
}

TEST(TimeText, refuses_what_is_no_time) {
    for (const char* text : {"", "today", "2026-13-02", "2026-03-02T09:14:00.", "12"}) {
        EXPECT_FALSE(parse_wall_time(text)) << text;
    }
}

}  // namespace
}  // namespace evenkeel
