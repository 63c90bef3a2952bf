#include "processor/balance/load_meter.h"

#include <gtest/gtest.h>

namespace evenkeel::processor {
namespace {

using namespace std::chrono_literals;

TEST(LoadMeter, comes_to_the_rate_of_a_steady_stream) {
    LoadMeter meter;
    Instant now{1'000'000'000};
    double load = meter.load({0}, 0, now);
    EXPECT_EQ(load, 0);

    for (std::uint64_t i = 1; i <= 600; ++i) load = meter.load({0}, i * 25, now = now + 250ms);

    EXPECT_NEAR(load, 100, 2);
}

TEST(LoadMeter, takes_no_burst_for_a_load) {
    LoadMeter meter;
    Instant now{1'000'000'000};
    meter.load({0}, 0, now);
    for (std::uint64_t i = 1; i <= 600; ++i) meter.load({0}, i * 25, now = now + 250ms);

    const double after_burst = meter.load({0}, 600 * 25 + 250, now = now + 250ms);

    EXPECT_LT(after_burst, 115) << "ten times as many for a quarter of a second";
}

TEST(LoadMeter, begins_again_with_a_new_pump_and_knows_partitions_apart) {
    LoadMeter meter;
    Instant now{1'000'000'000};
    meter.load({0}, 1000, now);
    meter.load({1}, 0, now);

    const double again = meter.load({0}, 10, now = now + 1s);

    EXPECT_GT(again, 0);
    EXPECT_LT(again, 10);
    EXPECT_EQ(meter.load({1}, 0, now), 0);
    meter.forget({0});
    EXPECT_EQ(meter.load({0}, 5000, now), 0);
}

}  // namespace
}  // namespace evenkeel::processor
