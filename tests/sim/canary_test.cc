// Canaries: random schedules against a coordinator with one known bug (src/processor/canary.h). A
// simulation that does not find it is blind, and this test fails.
#include "processor/canary.h"

#include <cstdio>

#include <gtest/gtest.h>

#include "base/random.h"
#include "sim/random_schedule.h"
#include "support/seed.h"

namespace evenkeel::sim {
namespace {

constexpr int schedules_max = 20'000;

TEST(BalanceCanary, is_caught) {
    Random random(test::test_seed());
    for (int i = 0; i < schedules_max; ++i) {
        const ScheduleResult result = run_random_schedule(random.next());
        if (result.violations.empty()) continue;
        std::printf("canary %d caught by schedule %d:\n%.300s\n", EK_PROCESSOR_CANARY, i + 1,
                    result.violations.c_str());
        return;
    }
    ADD_FAILURE() << "canary " << EK_PROCESSOR_CANARY << " lives after " << schedules_max
                  << " schedules";
}

}  // namespace
}  // namespace evenkeel::sim
