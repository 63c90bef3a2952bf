// Many lives of a group by chance, none of which may have two readers of a partition, or end out of
// balance. EVENKEEL_SEED repeats a run; EVENKEEL_SCHEDULE=N runs one schedule and tells its story.
#include <cstdio>
#include <cstdlib>

#include <gtest/gtest.h>

#include "base/random.h"
#include "sim/random_schedule.h"
#include "support/seed.h"

namespace evenkeel::sim {
namespace {

using test::test_seed;

int schedules() {
    if (std::getenv("EVENKEEL_LONG") != nullptr) return 500'000;
    return std::getenv("EVENKEEL_SANITIZED") != nullptr ? 500 : 6'000;
}

TEST(RandomBalance, no_schedule_reads_twice_or_ends_out_of_balance) {
    if (const char* one = std::getenv("EVENKEEL_SCHEDULE")) {
        const ScheduleResult result = run_random_schedule(std::strtoull(one, nullptr, 10));
        std::printf("%s", result.story.c_str());
        EXPECT_EQ(result.violations, "");
        return;
    }
    Random random(test_seed());
    std::uint64_t steps = 0;
    std::uint64_t moves = 0;
    int failed = 0;
    const int count = schedules();
    for (int i = 0; i < count && failed < 3; ++i) {
        const std::uint64_t seed = random.next();
        const ScheduleResult result = run_random_schedule(seed);
        steps += result.steps;
        moves += result.moves;
        if (result.violations.empty()) continue;
        ++failed;
        ADD_FAILURE() << result.violations << result.story << "again: EVENKEEL_SCHEDULE=" << seed
                      << " ./test RandomBalance";
    }
    std::printf("%d schedules, %llu steps, %llu moves\n", count,
                static_cast<unsigned long long>(steps), static_cast<unsigned long long>(moves));
}

TEST(RandomBalance, the_same_seed_gives_the_same_trace) {
    Random random(test_seed());
    for (int i = 0; i < 50; ++i) {
        const std::uint64_t seed = random.next();
        EXPECT_EQ(run_random_schedule(seed).trace_hash, run_random_schedule(seed).trace_hash)
            << seed;
    }
}

}  // namespace
}  // namespace evenkeel::sim
