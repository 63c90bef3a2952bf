#include "hub/rate.h"

#include <gtest/gtest.h>

namespace evenkeel::hub {
namespace {

using namespace std::chrono_literals;

constexpr Instant start{1'000'000'000'000};

TEST(Rate, is_the_mean_of_the_last_ten_seconds) {
    Rate rate;
    std::int64_t total = 0;
    for (int second = 0; second < 30; ++second) {
        rate.sample(start + second * 1s, total);
        total += second < 20 ? 5 : 100;
    }

    EXPECT_DOUBLE_EQ(rate.per_second(start + 30s, total), 100);
    EXPECT_DOUBLE_EQ(rate.per_second(start + 30s, total + 50), 105) << "up to now";
}

TEST(Rate, falls_to_nothing_ten_seconds_after_the_last_event) {
    Rate rate;
    rate.sample(start, 0);
    for (int second = 1; second <= 10; ++second) rate.sample(start + second * 1s, 600);

    EXPECT_DOUBLE_EQ(rate.per_second(start + 10s, 600), 60);
    EXPECT_DOUBLE_EQ(rate.per_second(start + 11s, 600), 0);
}

TEST(Rate, is_the_mean_since_it_is_watched_if_that_is_less) {
    Rate rate(1000);
    rate.sample(start, 1000);
    rate.sample(start + 1s, 1020);

    EXPECT_DOUBLE_EQ(rate.per_second(start + 2s, 1040), 20);
}

TEST(Rate, takes_less_than_a_second_for_one) {
    Rate rate(7);
    EXPECT_DOUBLE_EQ(rate.per_second(start, 8), 1) << "before the first sample";
    rate.sample(start, 7);

    EXPECT_DOUBLE_EQ(rate.per_second(start + 1us, 8), 1);
}

TEST(Rate, keeps_its_window_when_samples_come_too_often_or_too_late) {
    Rate often;
    for (int i = 0; i <= 200; ++i) often.sample(start + i * 100ms, i);
    EXPECT_DOUBLE_EQ(often.per_second(start + 20s, 200), 10);

    Rate late;
    late.sample(start, 0);
    late.sample(start + 60s, 600);
    EXPECT_DOUBLE_EQ(late.per_second(start + 60s, 600), 10) << "the minute that is known";
}

TEST(Rate, is_never_negative) {
    Rate rate(10);
    rate.sample(start, 10);

    EXPECT_DOUBLE_EQ(rate.per_second(start + 5s, 4), 0);
}

}  // namespace
}  // namespace evenkeel::hub
