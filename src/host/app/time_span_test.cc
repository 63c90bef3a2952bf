#include "host/app/time_span.h"

#include <gtest/gtest.h>

namespace evenkeel::host {
namespace {

using namespace std::chrono_literals;

TEST(TimeSpan, has_hours_minutes_seconds_and_a_fraction) {
    EXPECT_EQ(parse_time_span("00:01:00"), 60s);
    EXPECT_EQ(parse_time_span("00:00:00.80"), 800ms);
    EXPECT_EQ(parse_time_span("23:59:59.9999999"), 24h - 1ms);
    EXPECT_EQ(parse_time_span("01:30"), 90min);
}

TEST(TimeSpan, may_have_days_and_a_sign) {
    EXPECT_EQ(parse_time_span("1.02:00:00"), 26h);
    EXPECT_EQ(parse_time_span("2"), 48h);
    EXPECT_EQ(parse_time_span("-00:00:05"), -5s);
}

TEST(TimeSpan, refuses_what_dotnet_refuses) {
    for (const char* text : {"", "abc", "24:00:00", "00:60:00", "00:00:60", "1:2:3:4",
                             "00:00:", "00::00", "00:00:00.", "00:00:00.12345678", "+00:01:00",
                             "--00:01:00", "99999999999999999999", "1e3", "00:00:0x"}) {
        EXPECT_EQ(parse_time_span(text), std::nullopt) << text;
    }
}

}  // namespace
}  // namespace evenkeel::host
