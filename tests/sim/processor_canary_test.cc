// Canaries: random schedules of whole processors with one known bug (CMakeLists.txt). A
// simulation that does not find it is blind, and this test fails.
#include <cstdio>

#include <gtest/gtest.h>

#include "base/canary.h"
#include "base/random.h"
#include "sim/processor_schedule.h"
#include "support/seed.h"

namespace evenkeel::sim {
namespace {

constexpr int processor_schedules_max = 20'000;

constexpr Trouble trouble = EK_CANARY(expiry_by_age) ? Trouble::store_clock
                            : EK_CANARY(keeps_unread) || EK_CANARY(gives_to_unable)
                                ? Trouble::hub_path
                                : Trouble::usual;

TEST(ProcessorCanary, is_caught) {
    Random random(test::test_seed());
    for (int i = 0; i < processor_schedules_max; ++i) {
        const auto result = run_processor_schedule(random.next(), trouble);
        if (result.violations.empty()) continue;
        std::printf("canary %s caught by schedule %d:\n%.300s\n", EK_CANARY_NAME, i + 1,
                    result.violations.c_str());
        return;
    }
    ADD_FAILURE() << "canary " << EK_CANARY_NAME << " lives after " << processor_schedules_max
                  << " schedules";
}

}  // namespace
}  // namespace evenkeel::sim
