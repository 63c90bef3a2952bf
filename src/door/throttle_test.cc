#include "door/throttle.h"

#include <gtest/gtest.h>

namespace evenkeel::door {
namespace {

using namespace std::chrono_literals;

constexpr Instant start{1'000'000'000};

TEST(Throttle, without_limits_takes_everything) {
    Throttle throttle({}, start);

    EXPECT_TRUE(throttle.take(1'000'000'000, 1'000'000'000, start));
}

TEST(Throttle, keeps_the_rate_over_time_though_batches_are_taken_whole) {
    Throttle throttle({.events_per_second = 100}, start);
    std::uint64_t taken = 0;
    for (int i = 0; i < 10'000; ++i) {
        if (throttle.take(30, 0, start + i * 1ms)) taken += 30;
    }

    EXPECT_GE(taken, 1000u);
    EXPECT_LE(taken, 1130u);  // a bucket and a batch more than ten seconds' worth
}

TEST(Throttle, goes_by_other_limits_once_it_is_told) {
    Throttle throttle({.events_per_second = 10}, start);
    EXPECT_TRUE(throttle.take(1000, 0, start));
    EXPECT_FALSE(throttle.take(1, 0, start + 1s));

    throttle.change({.events_per_second = 20}, start + 1s);

    EXPECT_TRUE(throttle.take(20, 0, start + 1s));
    EXPECT_FALSE(throttle.take(1, 0, start + 1s));
    throttle.change({}, start + 1s);
    EXPECT_TRUE(throttle.take(1'000'000, 0, start + 1s));
}

TEST(Throttle, takes_from_neither_bucket_if_one_is_empty) {
    Throttle throttle({.events_per_second = 10, .bytes_per_second = 1000}, start);

    EXPECT_TRUE(throttle.take(1, 2000, start));
    EXPECT_FALSE(throttle.take(1, 1, start + 500ms));
    EXPECT_FALSE(throttle.take(1, 1, start + 1s));
    EXPECT_TRUE(throttle.take(9, 1, start + 1100ms));
}

}  // namespace
}  // namespace evenkeel::door
