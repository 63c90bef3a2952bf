// Canaries: random schedules of whole processors with one known bug (src/processor/canary.h). A
// simulation that does not find it is blind, and this test fails.
#include <cstdio>

#include <gtest/gtest.h>

#include "base/random.h"
#include "processor/canary.h"
#include "sim/processor_schedule.h"
#include "support/seed.h"

namespace evenkeel::sim {
namespace {

constexpr int schedules_max = 20'000;

constexpr Trouble trouble = processor::canary_expiry_by_age ? Trouble::store_clock
                            : processor::canary_keeps_unread || processor::canary_gives_to_unable
                                ? Trouble::hub_path
                                : Trouble::usual;

TEST(ProcessorCanary, is_caught) {
    Random random(test::test_seed());
    for (int i = 0; i < schedules_max; ++i) {
        const auto result = run_processor_schedule(random.next(), trouble);
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
