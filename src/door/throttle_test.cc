#include "door/throttle.h"

#include <gtest/gtest.h>

namespace evenkeel::door {
namespace {

using namespace std::chrono_literals;

constexpr Instant begun{1'000'000'000};

TEST(Throttle, without_limits_takes_everything) {
    Throttle throttle({}, begun);

    EXPECT_TRUE(throttle.take(1'000'000'000, 1'000'000'000, begun));
}

TEST(Throttle, keeps_the_rate_over_time_though_batches_are_taken_whole) {
    Throttle throttle({.events_per_second = 100}, begun);
    std::uint64_t taken = 0;
    for (int i = 0; i < 10'000; ++i) {
        if (throttle.take(30, 0, begun + i * 1ms)) taken += 30;
    }

    EXPECT_GE(taken, 1000u);
    EXPECT_LE(taken, 1130u);  // a bucket and a batch more than ten seconds' worth
}

TEST(Throttle, goes_by_other_limits_once_it_is_told) {
    Throttle throttle({.events_per_second = 10}, begun);
    EXPECT_TRUE(throttle.take(1000, 0, begun));
    EXPECT_FALSE(throttle.take(1, 0, begun + 1s));

    throttle.change({.events_per_second = 20}, begun + 1s);

    EXPECT_TRUE(throttle.take(20, 0, begun + 1s));
    EXPECT_FALSE(throttle.take(1, 0, begun + 1s));
    throttle.change({}, begun + 1s);
    EXPECT_TRUE(throttle.take(1'000'000, 0, begun + 1s));
}

TEST(Throttle, takes_from_neither_bucket_if_one_is_empty) {
    Throttle throttle({.events_per_second = 10, .bytes_per_second = 1000}, begun);

    EXPECT_TRUE(throttle.take(1, 2000, begun));
    EXPECT_FALSE(throttle.take(1, 1, begun + 500ms));
    EXPECT_FALSE(throttle.take(1, 1, begun + 1s));
    EXPECT_TRUE(throttle.take(9, 1, begun + 1100ms));
}

}  // namespace
}  // namespace evenkeel::door
