// Event processors as real processes, with real faults, judged by what they handled.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "base/random.h"
#include "process/processor/lab.h"
#include "support/seed.h"

namespace evenkeel::lab {
namespace {

using namespace std::chrono_literals;

// Nothing lost, nothing out of order, one owner at a time, and nothing repeated but after a kill.
void expect_good(const demo::Verdict& verdict) {
    EXPECT_GT(verdict.durable, 1000u) << "too little happened to say anything";
    EXPECT_EQ(verdict.lost, 0u);
    EXPECT_EQ(verdict.out_of_order, 0u);
    EXPECT_EQ(verdict.wrong_content, 0u);
    EXPECT_EQ(verdict.past_fence, 0u);
    std::printf("ledger: %s", to_json(verdict).c_str());
}

TEST(ProcessorFaults, the_others_take_over_from_a_killed_one_again_and_again) {
    Lab lab({.partitions = 6});
    lab.start_processor();
    lab.start_processor();
    lab.start_processor();
    lab.start_producer();
    std::vector<std::uint32_t> living = {0, 1, 2};
    lab.wait_until("three share", [&] { return lab.is_shared_by(living); });

    for (int round = 0; round < 4; ++round) {
        lab.kill_processor(living.front());
        living.erase(living.begin());
        lab.wait_until("the rest share", [&] { return lab.is_shared_by(living); });
        lab.mark_progress();
        lab.wait_until("all partitions move on", [&] { return lab.has_progressed(50); });
        living.push_back(lab.start_processor());
        lab.wait_until("the new one has its share", [&] { return lab.is_shared_by(living); });
    }

    const auto verdict = lab.finish();
    expect_good(verdict);
    EXPECT_EQ(verdict.repeated_at_handover, 0u);
    EXPECT_GE(verdict.handovers, 4u);
}

TEST(ProcessorFaults, a_graceful_stop_and_a_new_start_repeat_nothing) {
    // A machine that stands still for longer than a lease would take partitions away.
    Lab lab({.profile = "standard"});
    lab.start_processor();
    lab.start_processor();
    lab.start_producer();
    std::vector<std::uint32_t> living = {0, 1};
    lab.wait_until("two share", [&] { return lab.is_shared_by(living); });

    for (int round = 0; round < 6; ++round) {
        lab.stop_processor(living.front());
        living.erase(living.begin());
        lab.wait_until("the other has all", [&] { return lab.is_shared_by(living); });
        living.push_back(lab.start_processor());
        lab.wait_until("the new one has its share", [&] { return lab.is_shared_by(living); });
    }

    const auto verdict = lab.finish();
    expect_good(verdict);
    EXPECT_EQ(verdict.repeated, 0u);
    EXPECT_GE(verdict.handovers, 20u);
}

TEST(ProcessorFaults, one_stopped_beyond_its_lease_does_nothing_in_its_old_epoch) {
    Random random(test::fresh_seed());
    Lab lab;
    lab.start_processor();
    lab.start_processor();
    lab.start_producer();
    lab.wait_until("two share", [&] { return lab.is_shared_by({0, 1}); });

    for (int round = 0; round < 3; ++round) {
        const std::uint32_t paused = round % 2 == 0 ? 0 : 1;
        lab.pass(std::chrono::milliseconds(random.between(0, 300)));
        lab.pause_processor(paused);
        lab.wait_until("the other has all", [&] { return lab.is_shared_by({1 - paused}); });
        lab.resume_processor(paused);
        lab.wait_until("both share again", [&] { return lab.is_shared_by({0, 1}); });
    }

    expect_good(lab.finish());
}

TEST(ProcessorFaults, a_store_that_is_locked_for_20_seconds_loses_nothing) {
    Lab lab;
    lab.start_processor();
    lab.start_processor();
    lab.start_producer();
    lab.wait_until("two share", [&] { return lab.is_shared_by({0, 1}); });

    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(lab.store_file().c_str(), &database), SQLITE_OK);
    sqlite3_busy_timeout(database, 10'000);
    ASSERT_EQ(sqlite3_exec(database, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr), SQLITE_OK);
    lab.pass(20s);
    ASSERT_EQ(sqlite3_exec(database, "COMMIT", nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(database);
    lab.mark_progress();
    lab.wait_until("all partitions move on", [&] { return lab.has_progressed(50); });
    lab.wait_until("two share again", [&] { return lab.is_shared_by({0, 1}); });

    expect_good(lab.finish());
}

TEST(ProcessorFaults, goes_on_after_the_hub_was_killed_and_started_again) {
    Lab lab({.profile = "standard"});
    lab.start_processor();
    lab.start_processor();
    lab.start_producer();
    lab.wait_until("two share", [&] { return lab.is_shared_by({0, 1}); });

    for (int round = 0; round < 3; ++round) {
        lab.kill_hub();
        lab.start_hub();
        lab.mark_progress();
        lab.wait_until("all partitions move on", [&] { return lab.has_progressed(50); });
    }

    const auto verdict = lab.finish();
    expect_good(verdict);
    EXPECT_EQ(verdict.repeated, 0u);
}

TEST(ProcessorFaults, a_second_one_with_the_same_id_is_refused) {
    Lab lab({.profile = "standard"});
    lab.start_processor("twin");
    lab.start_producer();
    lab.wait_until("it has all", [&] { return lab.is_shared_by({0}); });

    const auto second = lab.try_processor("twin");

    EXPECT_EQ(second.exit_code, 6) << second.errors;
    EXPECT_NE(second.errors.find("twin"), std::string::npos) << second.errors;
    lab.mark_progress();
    lab.wait_until("the first goes on", [&] { return lab.has_progressed(50); });
    const auto verdict = lab.finish();
    expect_good(verdict);
    EXPECT_EQ(verdict.repeated, 0u);
}

}  // namespace
}  // namespace evenkeel::lab
