// The crash lab: no acknowledged event is lost and no number used twice, whatever a power loss
// or a kill leaves of the disk, also when it comes in the middle of a recovery.
#include <cstdio>
#include <cstdlib>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "crash/workload.h"
#include "support/seed.h"

namespace evenkeel::crash {
namespace {

using test::test_seed;

TEST(LogWorld, a_log_gives_back_what_it_took_before_and_after_a_restart) {
    Random random(1);
    History history;
    LogWorld world(1, a_disk(), small_options(random));
    ASSERT_TRUE(world.open().ok());

    for (int i = 0; i < 20; ++i) append(world, history, 1, {10, 200, 0}, random);
    world.run();
    const auto before = world.read_all();
    world.close();
    ASSERT_TRUE(world.open().ok());
    const auto after = world.read_all();

    ASSERT_TRUE(before.ok() && after.ok());
    EXPECT_EQ(before->events.size(), 60u);
    EXPECT_EQ(check(history, *before, {}), "");
    EXPECT_EQ(difference(*before, *after), "");
}

// How much to try: all tests of this file together reach `states`.
struct Budget {
    std::uint64_t states = 50'000;
    std::uint64_t random_share = 35'000;
};

Budget budget() {
    if (std::getenv("EVENKEEL_LONG")) return {3'000'000, 2'950'000};
    if (std::getenv("EVENKEEL_SANITIZED")) return {3'000, 2'500};
    return {};
}

// All that was tried in this program.
Ledger& total() {
    static Ledger ledger;
    return ledger;
}

std::string describe(std::uint64_t seed, const std::string& failure) {
    return failure.empty() ? "" : fmt::format("workload seed {}: {}", seed, failure);
}

// Several lives of one log, each ended by a crash of its own.
std::string live(std::uint64_t seed, Ledger& ledger) {
    Random random(seed);
    ExplorerOptions options;
    options.log = small_options(random);
    options.images_per_point = 2;
    Workload workload(random.next(), options);
    for (auto lives = 1 + random.below(4); lives > 0; --lives) {
        for (auto steps = 3 + random.below(15); steps > 0; --steps) workload.random_step();
        workload.crash(static_cast<End>(random.below(end_kinds)));
    }
    workload.finish();
    ledger.add(workload.explorer().ledger());
    return workload.failure();
}

TEST(CrashLab, nothing_acknowledged_or_seen_is_lost_in_any_life_of_a_log) {
    Random random(test_seed());
    Ledger ledger;
    while (ledger.states() < budget().random_share) {
        const std::uint64_t seed = random.next();
        ASSERT_EQ(describe(seed, live(seed, ledger)), "") << ledger.to_string();
    }
    total().add(ledger);
}

// A log with two segments and a purged beginning, then each workload of one to three steps.
void explore_all(std::uint64_t seed, std::size_t length_max, std::size_t skip, Ledger& ledger) {
    std::size_t count = 1;
    std::size_t number = 0;
    for (std::size_t length = 1; length <= length_max; ++length) {
        count *= step_kinds;
        for (std::size_t code = 0; code < count; ++code) {
            if (number++ % skip != 0) continue;
            ExplorerOptions options;
            options.log.segment_bytes_max = 512;
            options.log.index_distance = 128;
            options.log.tail_bytes_max = 0;
            options.nested_one_in = 16;
            std::string steps;
            Workload workload(seed + number, options);
            workload.step(Step::append_batch);
            workload.step(Step::append_roll);
            for (std::size_t i = 0, rest = code; i < length; ++i, rest /= step_kinds) {
                const auto step = static_cast<Step>(rest % step_kinds);
                steps += fmt::format(" {}", to_string(step));
                workload.step(step);
            }
            workload.finish();
            ledger.add(workload.explorer().ledger());
            ASSERT_EQ(workload.failure(), "") << "workload:" << steps << ", seed " << seed;
        }
    }
}

TEST(CrashLab, every_short_workload_survives_a_crash_anywhere) {
    Ledger ledger;
    explore_all(test_seed(), 3, std::getenv("EVENKEEL_SANITIZED") ? 40 : 1, ledger);
    total().add(ledger);
}

// Runs last, as its name says; gtest keeps the order in a file.
TEST(CrashLab, the_ledger_of_this_run_reaches_its_budget) {
    std::printf("%s\n", total().to_string().c_str());
    if (total().states() == 0) GTEST_SKIP() << "the tests that fill the ledger did not run";
    EXPECT_GE(total().states(), budget().states);
    for (const auto states : total().by_end) EXPECT_GT(states, 0u);
    for (const auto states : total().by_depth) EXPECT_GT(states, 0u);
}

}  // namespace
}  // namespace evenkeel::crash
