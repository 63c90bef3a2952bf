#include "commitlog/retention.h"

#include <gtest/gtest.h>

#include "io/sim/scheduler.h"
#include "support/seed.h"

namespace evenkeel::commitlog {
namespace {

using namespace std::chrono_literals;

constexpr WallTime now{1'000'000};
const RetentionPolicy a_minute{.age_max = 60s, .bytes_max = std::nullopt};

SegmentAge aged(std::chrono::milliseconds age, bool sealed = true, std::uint64_t bytes = 100) {
    return {now - age, bytes, sealed};
}

TEST(Retention, keeps_everything_without_a_limit) {
    const std::vector<SegmentAge> segments{aged(24h), aged(23h)};

    EXPECT_EQ(segments_to_remove(segments, {}, now), 0u);
}

TEST(Retention, removes_segments_whose_last_event_is_too_old) {
    const std::vector<SegmentAge> segments{aged(61s), aged(60s + 1ms), aged(60s), aged(0s, false)};

    EXPECT_EQ(segments_to_remove(segments, a_minute, now), 2u);
}

TEST(Retention, keeps_an_expired_segment_that_is_not_sealed) {
    const std::vector<SegmentAge> segments{aged(24h, false)};

    EXPECT_EQ(segments_to_remove(segments, a_minute, now), 0u);
}

TEST(Retention, removes_nothing_behind_a_segment_that_stays) {
    const std::vector<SegmentAge> segments{aged(0s), aged(24h)};

    EXPECT_EQ(segments_to_remove(segments, a_minute, now), 0u);
}

TEST(Retention, removes_the_oldest_until_the_rest_is_within_the_size_limit) {
    const std::vector<SegmentAge> segments{aged(4s), aged(3s), aged(2s), aged(1s, false)};

    EXPECT_EQ(segments_to_remove(segments, {.age_max = {}, .bytes_max = 400}, now), 0u);
    EXPECT_EQ(segments_to_remove(segments, {.age_max = {}, .bytes_max = 399}, now), 1u);
    EXPECT_EQ(segments_to_remove(segments, {.age_max = {}, .bytes_max = 200}, now), 2u);
    EXPECT_EQ(segments_to_remove(segments, {.age_max = {}, .bytes_max = 0}, now), 3u);
}

class RetentionTime : public testing::Test {
protected:
    io::sim::Scheduler scheduler{test::test_seed()};
    io::sim::SimLoop loop{scheduler, "loop/0"};
    RetentionClock clock{loop.clock()};
    const WallTime start = loop.clock().wall();
};

TEST_F(RetentionTime, passes_as_the_steady_clock_does) {
    scheduler.run_for(1500us);
    EXPECT_EQ(clock.now(), start + 1ms);
    scheduler.run_for(1500us);
    EXPECT_EQ(clock.now(), start + 3ms);
    scheduler.run_for(10s);
    EXPECT_EQ(clock.now(), start + 10'003ms);
}

TEST_F(RetentionTime, does_not_jump_ahead_with_the_wall_clock) {
    scheduler.run_for(1s);
    loop.set_wall_skew(24h);

    EXPECT_EQ(clock.now(), start + 1s);
    scheduler.run_for(1s);
    EXPECT_EQ(clock.now(), start + 2s);
}

TEST_F(RetentionTime, goes_back_with_the_wall_clock_since_too_late_is_safe) {
    scheduler.run_for(10s);
    loop.set_wall_skew(-5s);

    EXPECT_EQ(clock.now(), start + 5s);
}

TEST_F(RetentionTime, is_right_again_once_the_wall_clock_is) {
    scheduler.run_for(10s);
    loop.set_wall_skew(-5s);
    EXPECT_EQ(clock.now(), start + 5s);
    loop.set_wall_skew(0s);

    EXPECT_EQ(clock.now(), start + 10s);
}

}  // namespace
}  // namespace evenkeel::commitlog
