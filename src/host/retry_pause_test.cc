#include "host/retry_pause.h"

#include <gtest/gtest.h>

namespace evenkeel::host {
namespace {

using namespace std::chrono_literals;

const RetryRule exponential = {
    .is_exponential = true, .retries_max = std::nullopt, .delay = 4s, .delay_max = 15min};

TEST(RetryPause, of_a_fixed_delay_is_always_the_same) {
    const RetryRule fixed = {.is_exponential = false, .retries_max = 3, .delay = 5s};

    EXPECT_EQ(retry_pause(fixed, 1, 1.2), 5s);
    EXPECT_EQ(retry_pause(fixed, 30, 0.8), 5s);
}

TEST(RetryPause, of_an_exponential_policy_grows_as_in_azure) {
    const std::vector<Duration> expected = {4s,   8s,   12s,  20s,  36s, 68s,
                                            132s, 260s, 516s, 900s, 900s};
    for (std::uint32_t retry = 1; retry <= expected.size(); ++retry) {
        EXPECT_EQ(retry_pause(exponential, retry, 1.0), expected[retry - 1]) << retry;
    }
}

TEST(RetryPause, is_spread_from_the_second_retry_on) {
    EXPECT_EQ(retry_pause(exponential, 1, 0.8), 4s);
    EXPECT_EQ(retry_pause(exponential, 2, 0.8), 7200ms);
    EXPECT_EQ(retry_pause(exponential, 2, 1.2), 8800ms);
}

TEST(RetryPause, does_not_overflow_for_ever) {
    EXPECT_EQ(retry_pause(exponential, 4'000'000'000u, 1.2), 15min);
}

}  // namespace
}  // namespace evenkeel::host
