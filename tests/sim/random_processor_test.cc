// Many lives of whole processors by chance, with events: nothing lost, nothing out of order, nobody
// past the fence. EVENKEEL_SEED repeats a run; EVENKEEL_SCHEDULE=N runs one schedule and tells its
// story.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "base/random.h"
#include "sim/processor_schedule.h"
#include "sim/processor_world.h"
#include "support/seed.h"

namespace evenkeel::sim {
namespace {

using test::test_seed;

int schedules() {
    if (std::getenv("EVENKEEL_LONG") != nullptr) return 100'000;
    return std::getenv("EVENKEEL_SANITIZED") != nullptr ? 150 : 5'000;
}

// The same schedules each time, so that what passed once passes again; others with --long.
std::uint64_t first_seed() {
    const bool by_chance = std::getenv("EVENKEEL_LONG") || std::getenv("EVENKEEL_SEED");
    return by_chance ? test_seed() : 1;
}

void run_schedules(Trouble trouble, const std::string& suite) {
    if (const char* one = std::getenv("EVENKEEL_SCHEDULE")) {
        const auto result = run_processor_schedule(std::strtoull(one, nullptr, 10), trouble);
        std::printf("%s", result.story.c_str());
        EXPECT_EQ(result.violations, "");
        return;
    }
    Random random(first_seed());
    ProcessorScheduleResult sum;
    int failed = 0;
    int run = 0;
    for (; run < schedules() && failed < 3; ++run) {
        const std::uint64_t seed = random.next();
        const auto result = run_processor_schedule(seed, trouble);
        sum.steps += result.steps;
        sum.moves += result.moves;
        sum.calls += result.calls;
        sum.events += result.events;
        sum.repeats += result.repeats;
        sum.failures += result.failures;
        sum.letters += result.letters;
        if (result.violations.empty()) continue;
        ++failed;
        ADD_FAILURE() << result.violations << result.story << "again: EVENKEEL_SCHEDULE=" << seed
                      << " ./test " << suite;
    }
    const auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
    std::printf(
        "%d schedules, %llu steps, %llu moves, %llu handler calls (%llu failed), %llu events (%llu "
        "again), %llu dead letters\n",
        run, number(sum.steps), number(sum.moves), number(sum.calls), number(sum.failures),
        number(sum.events), number(sum.repeats), number(sum.letters));
}

TEST(RandomProcessors, lose_nothing_in_any_schedule_and_nobody_acts_past_the_fence) {
    run_schedules(Trouble::usual, "RandomProcessors");
}

TEST(RandomStoreClock, steps_evict_nobody_who_lives) {
    run_schedules(Trouble::store_clock, "RandomStoreClock");
}

TEST(RandomHubPath, who_cannot_read_gives_to_who_can_and_nobody_fights) {
    run_schedules(Trouble::hub_path, "RandomHubPath");
}

// PUMP-19. Each attempt is the last one, so that a single one that counts would dead-letter.
TEST(HandlerOutage, dead_letters_nothing_while_members_come_and_go) {
    ProcessorWorldOptions options;
    options.seed = test_seed();
    options.habits.outage_per_thousand = 1000;
    options.processor.retry.attempts_max = 1;
    ProcessorWorld world(options);
    world.start("a");
    for (std::uint32_t p = 0; p < options.partitions; ++p) world.append(p, 50);
    world.run_for(std::chrono::seconds(20));
    world.start("b");
    world.run_for(std::chrono::seconds(20));
    world.crash("a");
    world.run_for(std::chrono::seconds(20));
    EXPECT_GT(world.checker().failures(), 20u);
    EXPECT_EQ(world.checker().letters(), 0u);
    EXPECT_LT(world.checker().done_to(0), 49);

    world.habits() = {};

    EXPECT_TRUE(world.run_until_settled(std::chrono::seconds(60))) << world.describe();
    EXPECT_EQ(world.checker().letters(), 0u);
    EXPECT_EQ(world.violations(), "");
}

TEST(RandomProcessors, schedules_that_failed_once_do_not_fail_again) {
    const std::uint64_t once[] = {
        // The answer to a heartbeat is lost just before the quiet: its sender looked dead.
        1291929226075198408U,
    };
    for (const std::uint64_t seed : once) {
        const auto result = run_processor_schedule(seed);
        EXPECT_EQ(result.violations, "") << result.story << seed;
    }
}

TEST(RandomProcessors, the_same_seed_gives_the_same_trace) {
    Random random(test_seed());
    for (int i = 0; i < 30; ++i) {
        const std::uint64_t seed = random.next();
        EXPECT_EQ(run_processor_schedule(seed).trace_hash, run_processor_schedule(seed).trace_hash)
            << seed;
    }
}

}  // namespace
}  // namespace evenkeel::sim
