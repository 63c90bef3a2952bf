// Many lives of a group whose store is lost, by chance. EVENKEEL_SEED repeats a run.
#include <cstdio>
#include <cstdlib>

#include <gtest/gtest.h>

#include "base/random.h"
#include "sim/store_loss_schedule.h"
#include "support/seed.h"

namespace evenkeel::sim {
namespace {

// The same schedules each time; others with --long.
std::uint64_t first_seed() {
    const bool by_chance = std::getenv("EVENKEEL_LONG") || std::getenv("EVENKEEL_SEED");
    return by_chance ? test::test_seed() : 1;
}

#ifdef EK_CANARY_NAME
TEST(StoreLossCanary, is_caught) {
    Random random(first_seed());
    for (int i = 0; i < 1000; ++i) {
        const auto result = run_store_loss_schedule(random.next());
        if (result.violations.find("LOSS-1") == std::string::npos) continue;
        std::printf("caught by schedule %d:\n%.300s\n", i + 1, result.violations.c_str());
        return;
    }
    ADD_FAILURE() << "the canary lives";
}
#else
int schedules() {
    if (std::getenv("EVENKEEL_LONG") != nullptr) return 100'000;
    return std::getenv("EVENKEEL_SANITIZED") != nullptr ? 100 : 5'000;
}

TEST(StoreLoss, repeats_nothing_before_an_operator_accepts_it) {
    Random random(first_seed());
    std::uint64_t events = 0;
    int failed = 0;
    for (int i = 0; i < schedules() && failed < 3; ++i) {
        const std::uint64_t seed = random.next();
        const auto result = run_store_loss_schedule(seed);
        events += result.events;
        if (result.violations.empty()) continue;
        ++failed;
        ADD_FAILURE() << result.violations << result.story << "seed " << seed;
    }
    std::printf("%d schedules, %llu events\n", schedules(),
                static_cast<unsigned long long>(events));
}
#endif

}  // namespace
}  // namespace evenkeel::sim
