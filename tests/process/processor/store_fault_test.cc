// Event processors as real processes that meet in PostgreSQL, Redis or Blob storage: killed,
// stopped, paused beyond their leases, and with their store away; judged as with SQLite
// (fault_test.cc). On Azurite if a script has installed it (tests/interop/interop_blob_processor).
#include <cstdlib>

#include <gtest/gtest.h>

#include "process/processor/lab.h"
#include "support/store_servers.h"

namespace evenkeel::lab {
namespace {

using namespace std::chrono_literals;

class ProcessorStoreFaults : public testing::TestWithParam<StoreKind> {};

TEST_P(ProcessorStoreFaults, kills_stops_pauses_and_an_outage_lose_nothing) {
    std::string why;
    const StoreServer store = GetParam().start(why);
    ASSERT_TRUE(store.kept || !GetParam().must_start) << why;
    if (!store.kept) GTEST_SKIP() << why;
    Lab lab({.partitions = 4, .rate = 2000, .store = store.address});
    std::vector<std::uint32_t> living = {lab.start_processor(), lab.start_processor()};
    lab.start_producer();
    lab.wait_until("two share", [&] { return lab.is_shared_by(living); });
    const auto replace_first = [&](auto end) {
        end(living.front());
        living.erase(living.begin());
        lab.wait_until("the other has all", [&] { return lab.is_shared_by(living); });
        living.push_back(lab.start_processor());
        lab.wait_until("the new one has its share", [&] { return lab.is_shared_by(living); });
    };

    const bool is_long = std::getenv("EVENKEEL_LONG") != nullptr;
    for (int round = 0; round < (is_long ? 10 : 1); ++round) {
        replace_first([&](std::uint32_t processor) { lab.kill_processor(processor); });
        if (is_long) {
            replace_first([&](std::uint32_t processor) { lab.stop_processor(processor); });
        }

        lab.pause_processor(living[0]);
        lab.wait_until("the other has all", [&] { return lab.is_shared_by({living[1]}); });
        lab.resume_processor(living[0]);
        lab.wait_until("both share again", [&] { return lab.is_shared_by(living); });

        store.go_away();
        lab.pass(is_long ? 20s : 4s);
        store.come_back();
        lab.mark_progress();
        lab.wait_until("all partitions move on", [&] { return lab.has_progressed(50); });
        lab.wait_until("both share after the outage", [&] { return lab.is_shared_by(living); });
    }

    const auto verdict = lab.finish();
    std::printf("ledger: %s", to_json(verdict).c_str());
    EXPECT_GT(verdict.durable, 1000u) << "too little happened to say anything";
    EXPECT_EQ(verdict.lost, 0u);
    EXPECT_EQ(verdict.out_of_order, 0u);
    EXPECT_EQ(verdict.wrong_content, 0u);
    EXPECT_EQ(verdict.past_fence, 0u);
}

INSTANTIATE_TEST_SUITE_P(Stores, ProcessorStoreFaults, testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return name_of(kind.param); });
INSTANTIATE_TEST_SUITE_P(Azurite, ProcessorStoreFaults, testing::ValuesIn(azurite_kinds()),
                         [](const auto& kind) { return name_of(kind.param); });

}  // namespace
}  // namespace evenkeel::lab
