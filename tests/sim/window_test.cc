// Handlers that keep events in windows, with manual checkpoints: crashes, hand-overs, pauses and an
// unsteady store lose none of the events that were only kept.
#include <string>

#include <gtest/gtest.h>

#include "base/random.h"
#include "sim/processor_world.h"

namespace evenkeel::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t window = 7;
constexpr std::uint32_t window_partitions = 4;

ProcessorWorldOptions window_options(std::uint64_t seed) {
    ProcessorWorldOptions options;
    options.seed = seed;
    options.partitions = window_partitions;
    options.habits = {.slow_per_thousand = 20, .failing_per_thousand = 50, .window_events = window};
    options.faults.lost_per_thousand = 20;
    options.processor.checkpoints.manual = true;
    options.processor.batch_events_max = 5;
    options.processor.retry = {.attempts_max = 1000, .delay = milliseconds(10)};
    return options;
}

void run_windows(std::uint64_t seed) {
    ProcessorWorld world(window_options(seed));
    Random random(seed);
    const std::string ids[] = {"a", "b", "c"};
    for (const auto& id : ids) world.start(id);
    for (int step = 0; step < 60; ++step) {
        for (std::uint32_t p = 0; p < window_partitions; ++p) world.append(p, random.below(12));
        const std::string& id = ids[random.below(3)];
        switch (random.below(5)) {
            case 0: world.crash(id); break;
            case 1: world.leave(id); break;
            case 2: world.pause(id, seconds(random.between(1, 8))); break;
            default: world.start(id);
        }
        world.run_for(milliseconds(random.between(100, 1500)));
    }
    world.quieten();
    for (const auto& id : ids) world.start(id);
    ASSERT_TRUE(world.run_until_settled(seconds(120))) << world.describe();
    for (std::uint32_t p = 0; p < window_partitions; ++p) {
        const auto events = static_cast<std::size_t>(world.hub().last({p}).value + 1);
        EXPECT_GT(world.windowed(p) + window, events) << "all but the open window";
    }
    EXPECT_EQ(world.violations(), "") << "seed " << seed;
}

TEST(ManualWindows, lose_no_kept_event_whatever_fails) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        run_windows(seed);
        if (testing::Test::HasFailure()) break;
    }
}

}  // namespace
}  // namespace evenkeel::sim
