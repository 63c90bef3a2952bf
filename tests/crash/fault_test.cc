// A disk that fails now and then: no false acknowledgement, nothing refused is
// served, and the log takes events again as soon as the disk does; also when a crash comes on top.
#include <cstdio>
#include <cstdlib>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "crash/workload.h"
#include "support/seed.h"

namespace evenkeel::crash {
namespace {

using io::sim::Fault;
using io::sim::FaultRule;
using io::sim::OperationKind;
using test::test_seed;

constexpr std::uint64_t for_ever = 1'000'000'000;

ExplorerOptions fault_options(Random& random) {
    ExplorerOptions options;
    options.log = small_options(random);
    options.images_per_point = 1;
    options.one_point_in = 4;
    options.depth_max = 1;
    options.faults = true;
    return options;
}

// One life with the faults, on to health, a crash, and another life.
std::string live_with(std::uint64_t seed, const std::vector<FaultRule>& rules, Ledger& ledger) {
    Random random(seed);
    const auto sizes = random.chance(1, 2) ? Sizes::same : Sizes::any;
    Workload workload(random.next(), fault_options(random), sizes);
    for (const auto& rule : rules) workload.world().disk().fail(rule);
    for (int i = 0; i < 25; ++i) workload.random_step();
    const std::uint64_t faults = workload.world().disk().faults();
    workload.heal();
    workload.crash(static_cast<End>(random.below(end_kinds)));
    for (int i = 0; i < 5; ++i) workload.random_step();
    workload.finish();
    ledger.add(workload.explorer().ledger());
    ledger.faults += faults;
    return workload.failure();
}

std::string describe(std::uint64_t seed, const FaultRule& rule, const std::string& failure) {
    if (failure.empty()) return {};
    return fmt::format("workload seed {}, {} {} fails with {} after {}, {} times: {}", seed,
                       io::sim::to_string(rule.kind), rule.path_contains,
                       static_cast<int>(rule.fault), rule.after, rule.times, failure);
}

std::uint64_t rounds(std::uint64_t usual) {
    if (std::getenv("EVENKEEL_LONG")) return usual * 40;
    return std::getenv("EVENKEEL_SANITIZED") ? 1 + usual / 20 : usual;
}

TEST(FaultLab, a_failed_sync_is_final_for_its_bytes) {
    Random random(test_seed());
    Ledger ledger;
    for (std::uint64_t round = 0; round < rounds(4); ++round) {
        for (std::uint64_t n = 0; n < 100; ++n) {
            const FaultRule rule{OperationKind::sync, n % 4 == 3 ? "" : ".log", n % 40};
            const std::uint64_t seed = random.next();
            ASSERT_EQ(describe(seed, rule, live_with(seed, {rule}, ledger)), "");
        }
    }
    std::printf("%s\n", ledger.to_string().c_str());
    EXPECT_GT(ledger.faults, 10u);
}

TEST(FaultLab, any_call_may_fail_in_any_way_and_for_any_time) {
    using enum OperationKind;
    Random random(test_seed());
    Ledger ledger;
    for (std::uint64_t round = 0; round < rounds(3); ++round) {
        for (const auto kind : {write, sync, truncate, create, open, remove, sync_directory}) {
            for (const auto fault : {Fault::io_error, Fault::no_space, Fault::short_write}) {
                for (const std::uint64_t times : {std::uint64_t{1}, std::uint64_t{3}, for_ever}) {
                    const FaultRule rule{kind, "", random.below(20), times, fault};
                    const std::uint64_t seed = random.next();
                    ASSERT_EQ(describe(seed, rule, live_with(seed, {rule}, ledger)), "");
                }
            }
        }
    }
    std::printf("%s\n", ledger.to_string().c_str());
    EXPECT_GT(ledger.faults, 10u);
}

// The clean-up after a failure fails as well.
TEST(FaultLab, two_faults_at_once_lose_nothing_either) {
    using enum OperationKind;
    Random random(test_seed());
    Ledger ledger;
    for (std::uint64_t round = 0; round < rounds(10); ++round) {
        for (const auto first : {write, sync, sync_directory, create}) {
            for (const auto second : {truncate, remove, sync_directory, sync}) {
                const auto fault = random.chance(1, 2) ? Fault::no_space : Fault::short_write;
                const FaultRule rule{first, "", random.below(20), 1 + random.below(2), fault};
                const FaultRule other{second, "", random.below(3), for_ever};
                const std::uint64_t seed = random.next();
                ASSERT_EQ(describe(seed, rule, live_with(seed, {rule, other}, ledger)), "")
                    << "and then " << io::sim::to_string(second);
            }
        }
    }
    std::printf("%s\n", ledger.to_string().c_str());
    EXPECT_GT(ledger.faults, 10u);
}

TEST(FaultLab, a_full_disk_refuses_and_takes_again_when_there_is_room) {
    Random random(test_seed());
    Ledger ledger;
    std::uint64_t refused = 0;
    for (std::uint64_t round = 0; round < rounds(200); ++round) {
        const std::uint64_t seed = random.next();
        Random chance(seed);
        const auto sizes = chance.chance(1, 2) ? Sizes::same : Sizes::any;
        Workload workload(chance.next(), fault_options(chance), sizes);
        for (int i = 0; i < 3; ++i) {
            std::uint64_t used = 0;
            auto& disk = workload.world().disk();
            for (const auto& file : disk.files()) used += disk.file_size(file);
            disk.set_capacity_bytes(used + chance.below(2500));
            for (int k = 0; k < 8; ++k) workload.random_step();
            if (chance.chance(1, 3)) workload.crash(static_cast<End>(chance.below(end_kinds)));
            workload.heal();
        }
        workload.finish();
        for (const auto& batch : workload.history().batches) {
            refused += batch.fate == Fate::refused;
        }
        ledger.add(workload.explorer().ledger());
        ASSERT_EQ(workload.failure(), "") << "workload seed " << seed;
    }
    std::printf("%s, batches refused %llu\n", ledger.to_string().c_str(),
                static_cast<unsigned long long>(refused));
    EXPECT_GT(refused, 0u);
}

// The second batch of a flush does not fit, so both are refused, and the file cannot be cut back;
// an event of the same size as the first one's first is then written.
TEST(FaultLab, what_is_left_of_a_refused_batch_never_joins_a_later_event) {
    for (std::size_t end = 0; end < end_kinds; ++end) {
        for (std::uint64_t seed = 0; seed < 50; ++seed) {
            Random random(seed);
            History history;
            commitlog::LogOptions options;
            LogWorld world(1, a_disk(), options);
            ASSERT_TRUE(world.open().ok());
            auto& disk = world.disk();
            disk.fail({OperationKind::write, ".log", 2, 1, Fault::no_space});
            if (seed % 2 == 0) disk.fail({OperationKind::truncate, ".log", 0, for_ever});
            append(world, history, 1, {40}, random, false);
            append(world, history, 1, {40, 40}, random, false);
            append(world, history, 1, {5000}, random, false);
            world.run();
            ASSERT_EQ(history.batches[1].fate, Fate::refused);

            append(world, history, 1, {40}, random, false);
            // Before the sync of it, or after.
            for (auto steps = random.below(4); steps > 0; --steps) world.scheduler().step();
            auto image = image_of(disk, static_cast<End>(end), random);

            LogWorld again(2, std::move(image), options);
            ASSERT_TRUE(again.open().ok());
            const auto reading = again.read_all();
            ASSERT_TRUE(reading.ok());
            EXPECT_EQ(check(history, *reading, {.refused_allowed = true}), "")
                << to_string(static_cast<End>(end)) << ", seed " << seed;
        }
    }
}

// Looks at what a power loss before each of the disk's syncs would leave.
void check_before_syncs(LogWorld& world, const History& history, Random& random, int& looks) {
    world.disk().set_hook([&](const io::sim::Operation& operation) {
        if (operation.kind != OperationKind::sync) return;
        ++looks;
        LogWorld again(3, image_of(world.disk(), End::random_subset, random), {});
        ASSERT_TRUE(again.open().ok());
        const auto reading = again.read_all();
        ASSERT_TRUE(reading.ok());
        EXPECT_EQ(check(history, *reading, {.refused_allowed = true}), "");
    });
}

// The file was cut back, but nothing had made the cut durable when the log was opened anew.
TEST(FaultLab, what_was_cut_off_before_a_restart_never_joins_a_later_event) {
    int looks = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        Random random(seed);
        History history;
        LogWorld world(1, a_disk(), {});
        ASSERT_TRUE(world.open().ok());
        world.disk().fail({OperationKind::write, ".log", 2, 1, Fault::no_space});
        append(world, history, 1, {40}, random, false);
        append(world, history, 1, {40, 40}, random, false);
        append(world, history, 1, {5000}, random, false);
        world.run();
        ASSERT_EQ(history.batches[1].fate, Fate::refused);
        world.close();

        LogWorld next(2, world.stop(), {});
        next.loop().set_wall_skew(std::chrono::hours(1));
        ASSERT_TRUE(next.open().ok());
        check_before_syncs(next, history, random, looks);
        append(next, history, 1, {40}, random, false);
        next.run();
    }
    EXPECT_GE(looks, 200);
}

// A new segment's name could not be made durable, nor its file removed; the next batch takes both.
TEST(FaultLab, an_abandoned_segment_never_joins_a_later_event) {
    const std::vector<std::size_t> sizes(8, 56);  // four of them end with a sector
    int looks = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        Random random(seed);
        History history;
        LogWorld world(1, a_disk(), {.segment_bytes_max = 1024});
        ASSERT_TRUE(world.open().ok());
        append(world, history, 1, sizes, random, false);
        world.run();
        world.disk().fail({OperationKind::sync_directory, "", 0, 1, Fault::io_error});
        world.disk().fail({OperationKind::remove, "", 0, for_ever, Fault::io_error});
        append(world, history, 1, sizes, random, false);
        world.run();
        ASSERT_EQ(history.batches[1].fate, Fate::refused);

        check_before_syncs(world, history, random, looks);
        append(world, history, 1, sizes, random, false);
        world.run();
        EXPECT_EQ(history.batches[2].fate, Fate::acknowledged);
    }
    EXPECT_GE(looks, 200);
}

}  // namespace
}  // namespace evenkeel::crash
