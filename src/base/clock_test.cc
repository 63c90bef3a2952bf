#include "base/clock.h"

#include <gtest/gtest.h>

namespace evenkeel {
namespace {

using namespace std::chrono_literals;

TEST(Instant, moves_by_durations_and_differs_by_them) {
    const Instant start{1'000};

    EXPECT_EQ((start + 5ns).nanoseconds, 1'005);
    EXPECT_EQ((start - 1us).nanoseconds, 0);
    EXPECT_EQ(start + 2s - start, Duration(2s));
    EXPECT_LT(start, start + 1ns);
}

TEST(WallTime, moves_by_milliseconds_and_differs_by_them) {
    const WallTime start{1'000};

    EXPECT_EQ((start + 1s).milliseconds, 2'000);
    EXPECT_EQ((start - 1ms).milliseconds, 999);
    EXPECT_EQ(start + 1min - start, 60'000ms);
    EXPECT_GT(start, start - 1ms);
}

TEST(WallTime, is_written_in_utc_with_milliseconds) {
    EXPECT_EQ(to_string(WallTime{0}), "1970-01-01T00:00:00.000Z");
    EXPECT_EQ(to_string(WallTime{1'772'442'840'123}), "2026-03-02T09:14:00.123Z");
    EXPECT_EQ(to_string(WallTime{951'782'399'999}), "2000-02-28T23:59:59.999Z");
    EXPECT_EQ(to_string(WallTime{951'782'400'000}), "2000-02-29T00:00:00.000Z");
}

TEST(WallTime, years_of_five_digits_are_written_too) {
    EXPECT_EQ(to_string(WallTime{253'402'300'799'999}), "9999-12-31T23:59:59.999Z");
    EXPECT_EQ(to_string(WallTime{253'402'300'800'000}), "10000-01-01T00:00:00.000Z");
}

TEST(WallTime, before_1970_is_written_too) {
    EXPECT_EQ(to_string(WallTime{-1}), "1969-12-31T23:59:59.999Z");
    EXPECT_EQ(to_string(WallTime{-1'000}), "1969-12-31T23:59:59.000Z");
}

TEST(SystemClock, never_goes_back) {
    const SystemClock clock;
    Instant last = clock.now();

    for (int i = 0; i < 1'000; ++i) {
        const Instant now = clock.now();
        EXPECT_GE(now, last);
        last = now;
    }
    EXPECT_GT(last.nanoseconds, 0);
}

TEST(SystemClock, knows_about_when_it_is) {
    const SystemClock clock;

    EXPECT_GT(clock.wall(), (WallTime{1'700'000'000'000}));  // November 2023
}

}  // namespace
}  // namespace evenkeel
