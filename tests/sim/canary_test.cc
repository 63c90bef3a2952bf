// Canaries: random schedules against a coordinator with one known bug (CMakeLists.txt). A
// simulation that does not find it is blind, and this test fails.
#include "base/canary.h"

#include <cstdio>

#include <gtest/gtest.h>

#include "base/random.h"
#include "processor/ownership/lease.h"
#include "sim/random_schedule.h"
#include "sim/scenarios.h"
#include "support/seed.h"

namespace evenkeel::sim {
namespace {

constexpr int schedules_max = 20'000;

// What the random schedules cannot see, because it is neither unsafe nor out of balance in the end.
bool is_caught_otherwise() {
    using namespace std::chrono_literals;
    if (EK_CANARY(late_answer_revives)) {
        // Only together with an outage that begins in the same moment would it be seen outside.
        constexpr Instant start{1'000'000'000'000};
        processor::Lease lease(5s);
        (void)lease.renewed(start, start);
        (void)lease.check(start + 8s);
        (void)lease.renewed(start + 2s, start + 8s);
        return lease.is_valid(start + 8s);
    }
    for (std::uint64_t seed = 1; seed <= 7; ++seed) {
        if (EK_CANARY(blind_judgement) &&
            measure(scenario("outage-20s-exclusive"), {}, seed).moves > 0) {
            return true;
        }
    }
    return false;
}

TEST(BalanceCanary, is_caught) {
    if (is_caught_otherwise()) return;
    Random random(test::test_seed());
    for (int i = 0; i < schedules_max; ++i) {
        const ScheduleResult result = run_random_schedule(random.next());
        if (result.violations.empty()) continue;
        std::printf("canary %s caught by schedule %d:\n%.300s\n", EK_CANARY_NAME, i + 1,
                    result.violations.c_str());
        return;
    }
    ADD_FAILURE() << "canary " << EK_CANARY_NAME << " lives after " << schedules_max
                  << " schedules";
}

}  // namespace
}  // namespace evenkeel::sim
