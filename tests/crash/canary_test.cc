// Canaries: the same labs against a commit log with one known bug put in on purpose
// (CMakeLists.txt). A lab that does not find it is blind, and this test fails.
#include <cstdio>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "crash/rot.h"
#include "crash/workload.h"
#include "support/seed.h"

namespace evenkeel::crash {
namespace {

using test::test_seed;

// What the crash lab says about some logs whose disk may fail at a sync of such a file; with
// crashes in the middle of recoveries to this depth.
[[maybe_unused]] std::string crash_lab(bool with_faults, std::size_t depth_max = 0,
                                       const char* failing = ".log") {
    Random random(test_seed());
    for (int round = 0; round < 200; ++round) {
        ExplorerOptions options;
        options.log = small_options(random);
        options.images_per_point = 2;
        options.depth_max = depth_max;
        options.nested_one_in = 2;
        options.faults = with_faults;
        Workload workload(random.next(), options);
        if (with_faults) {
            workload.world().disk().fail({io::sim::OperationKind::sync, failing, random.below(8)});
        }
        for (int i = 0; i < 12; ++i) workload.random_step();
        workload.finish();
        if (!workload.failure().empty()) return workload.failure();
    }
    return {};
}

// What the rot lab says about flipped bits of a log whose power went, and about one whose end is
// gone.
[[maybe_unused]] std::string rot_lab() {
    Random random(test_seed());
    const RotLog log = a_rot_log(test_seed(), Stopped::power_lost, 8 << 10);
    const std::string active = log.files(".log").back();
    for (int round = 0; round < 200; ++round) {
        const std::uint64_t byte = random.below(log.disk->file_size(active));
        const Touched place = touched(active, byte, 1);
        if (place.end > log.proved) continue;
        auto damaged = log.disk->kill();
        damaged->flip_bit(active, byte, 3);
        const auto wrong = examine(log, std::move(damaged), {place}, random);
        if (!wrong.empty()) return wrong;
    }
    const RotLog closed = a_rot_log(test_seed(), Stopped::cleanly, 8 << 10);
    const std::string last = closed.files(".log").back();
    auto damaged = closed.disk->kill();
    const std::uint64_t size = damaged->file_size(last);
    const bool removed = damaged->remove(last).ok();
    return removed ? examine(closed, std::move(damaged), {touched(last, 0, size)}, random) : "";
}

// What is left of an event hub that was removed while the journal had its events.
[[maybe_unused]] std::string replay_lab() {
    Random random(test_seed());
    History history;
    LogWorld world(test_seed(), a_disk(), {});
    if (!world.open().ok()) return "does not open";
    append(world, history, producer_id, {100}, random);
    world.run();
    auto disk = world.disk().kill();
    for (const auto& path : disk->files()) {
        if (path.starts_with(partition_folder + std::string("/")) && !disk->remove(path).ok()) {
            return "a healthy disk removes";
        }
    }
    LogWorld again(2, std::move(disk), {});
    (void)again.open();
    for (const auto& path : again.disk().files()) {
        if (path.ends_with(".log")) return path + " is back although its event hub was removed";
    }
    return {};
}

void expect_caught(const std::string& found) {
    std::printf("caught: %s\n", found.c_str());
    EXPECT_NE(found, "") << "the canary was not found";
}

#if defined(EK_CANARY_ack_before_sync)
TEST(Canary, an_early_acknowledgement_is_caught) {
    expect_caught(crash_lab(false));
}
#elif defined(EK_CANARY_truncate_at_bad_record)
TEST(Canary, a_good_tail_that_is_cut_behind_a_bad_record_is_caught) {
    expect_caught(rot_lab());
}
#elif defined(EK_CANARY_skip_directory_sync)
TEST(Canary, a_new_segment_without_a_durable_name_is_caught) {
    expect_caught(crash_lab(false));
}
#elif defined(EK_CANARY_retry_sync)
TEST(Canary, a_failed_sync_that_is_tried_again_is_caught) {
    expect_caught(crash_lab(true));
}
#elif defined(EK_CANARY_ack_before_journal_sync)
TEST(Canary, an_acknowledgement_before_the_journal_is_synced_is_caught) {
    expect_caught(crash_lab(false));
}
#elif defined(EK_CANARY_recycle_before_sync)
TEST(Canary, a_journal_that_is_used_again_too_soon_is_caught) {
    expect_caught(crash_lab(false));
}
#elif defined(EK_CANARY_replay_removed)
TEST(Canary, a_replay_that_brings_back_what_was_removed_is_caught) {
    expect_caught(replay_lab());
}
#elif defined(EK_CANARY_skip_replay_sync)
TEST(Canary, a_journal_that_goes_before_its_replay_is_synced) {
    expect_caught(crash_lab(false, 1));
}
#elif defined(EK_CANARY_skip_rewrite)
TEST(Canary, a_segment_that_is_not_written_anew_is_caught) {
    expect_caught(crash_lab(true));
}
#elif defined(EK_CANARY_skip_mend)
TEST(Canary, a_failed_journal_that_is_used_again_is_caught) {
    expect_caught(crash_lab(true, 0, ".journal"));
}
#elif defined(EK_CANARY_reuse_sequence)
TEST(Canary, a_number_that_is_given_out_twice_is_caught) {
    expect_caught(rot_lab());
}
#endif

}  // namespace
}  // namespace evenkeel::crash
