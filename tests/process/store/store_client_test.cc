// Checkpoint stores on servers under processes that are killed or stopped, and servers that go away
// under them; SQLite is in store_test.cc. On Azurite if a script has installed it
// (tests/interop/interop_blob_clients).
#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <vector>

#include <signal.h>

#include <gtest/gtest.h>

#include "base/random.h"
#include "checkpoint/contract/blocking_client_fixture.h"
#include "checkpoint/open.h"
#include "process/store/store_protocol.h"
#include "support/paths.h"
#include "support/process.h"
#include "support/seed.h"
#include "support/store_servers.h"

namespace evenkeel::fault {
namespace {

constexpr std::uint32_t processes = 2;
constexpr std::uint32_t partitions = process_partitions - transacted_partitions;  // of each
using Positions = std::vector<std::int64_t>;                                      // -1: none

class StoreClients : public testing::TestWithParam<lab::StoreKind> {
protected:
    void SetUp() override {
        std::string why;
        store_ = GetParam().start(why);
        ASSERT_TRUE(store_.kept || !GetParam().must_start) << why;
        if (!store_.kept) GTEST_SKIP() << why;
        client_ = std::make_unique<checkpoint::BlockingClient>([&](io::Loop& loop) {
            auto opened = checkpoint::open_store(store_.address, store_group, loop);
            EXPECT_TRUE(opened) << to_string(opened.error());
            return std::move(*opened);
        });
    }
    std::unique_ptr<Process> start(std::uint32_t index) {
        return std::make_unique<Process>(std::vector<std::string>{
            test::built_path("tests/process/store/store_target"), store_.address,
            std::to_string(++epoch_), std::to_string(index * partitions)});
    }
    void acknowledge(const Stored& stored) {
        ++answers_;
        auto& last = acknowledged_.at(stored.partition);
        EXPECT_GT(stored.sequence, last) << "partition " << stored.partition << " went back";
        last = stored.sequence;
    }
    void read_one(Process& process) {
        Stored stored;
        ASSERT_TRUE(process.read_output(&stored, sizeof stored)) << process.rest_of_errors();
        acknowledge(stored);
    }
    void kill(std::unique_ptr<Process>& process) {
        process->signal(SIGKILL);
        Stored stored;
        while (process->read_output(&stored, sizeof stored)) acknowledge(stored);
        EXPECT_FALSE(process->wait().exited);
        process.reset();
    }
    // What is stored, which nothing that was answered is ahead of.
    Positions verified() {
        auto listed = client_->checkpoints();
        for (int i = 0; i < 100 && !listed.ok(); ++i) listed = client_->checkpoints();
        EXPECT_TRUE(listed) << to_string(listed.error());
        Positions stored(acknowledged_.size(), -1);
        if (!listed.ok()) return stored;
        for (const auto& each : *listed) stored.at(each.partition.value) = each.sequence.value;
        return stored;
    }

    lab::StoreServer store_;
    std::unique_ptr<checkpoint::BlockingClient> client_;
    Positions acknowledged_ = Positions(processes * partitions, -1);
    int epoch_ = 0;
    std::uint64_t answers_ = 0;
};

TEST_P(StoreClients, killed_at_any_time_lose_no_checkpoint_that_was_answered) {
    const int kills = std::getenv("EVENKEEL_LONG") == nullptr ? 10 : 100;
    Random random(test::fresh_seed());
    std::array<std::unique_ptr<Process>, processes> running;
    Positions seen = acknowledged_;

    for (int i = 0; i < kills && !HasFailure(); ++i) {
        for (std::uint32_t index = 0; index < processes; ++index) {
            if (!running[index]) running[index] = start(index);
        }
        const std::uint64_t after = random.chance(1, 4) ? 1 + random.below(5) : random.below(60);
        for (std::uint64_t turn = 0; turn < after && !HasFailure(); ++turn) {
            for (auto& process : running) read_one(*process);
        }
        kill(running[random.below(processes)]);
        const Positions stored = verified();
        for (std::size_t p = 0; p < stored.size(); ++p) {
            EXPECT_GE(stored[p], acknowledged_[p]) << "partition " << p;
            EXPECT_GE(stored[p], seen[p]) << "partition " << p << " went back";
        }
        seen = stored;
    }

    EXPECT_GT(answers_, 50u);
}

TEST_P(StoreClients, stopped_and_woken_when_another_has_taken_over_are_fenced) {
    auto stopped = start(0);
    for (int i = 0; i < 40; ++i) ASSERT_NO_FATAL_FAILURE(read_one(*stopped));
    stopped->signal(SIGSTOP);
    auto successor = start(0);
    Positions first(partitions, -1), last(partitions, -1);
    const auto are_all_taken = [&] { return std::ranges::find(first, -1) == first.end(); };
    while (!are_all_taken()) {
        Stored stored;
        ASSERT_TRUE(successor->read_output(&stored, sizeof stored)) << successor->rest_of_errors();
        if (first.at(stored.partition) < 0) first.at(stored.partition) = stored.sequence;
    }

    stopped->signal(SIGCONT);
    Stored late;
    while (stopped->read_output(&late, sizeof late)) last.at(late.partition) = late.sequence;

    const std::string said = stopped->rest_of_errors();
    EXPECT_NE(said.find("fenced"), std::string::npos) << said;
    EXPECT_TRUE(stopped->wait().exited);
    for (std::size_t p = 0; p < partitions; ++p) {
        EXPECT_LT(std::max(last[p], acknowledged_[p]), first[p])
            << "partition " << p << ": an answer to the replaced one that its successor missed";
    }
    successor->signal(SIGKILL);
    successor->wait();
}

TEST_P(StoreClients, recover_with_all_acknowledged_when_the_server_is_back) {
    std::array<std::unique_ptr<Process>, processes> running = {start(0), start(1)};
    for (int i = 0; i < 40; ++i) {
        for (auto& process : running) ASSERT_NO_FATAL_FAILURE(read_one(*process));
    }

    store_.go_away();
    store_.come_back();

    const Positions stored = verified();
    for (std::size_t p = 0; p < stored.size(); ++p) EXPECT_GE(stored[p], acknowledged_[p]);
    for (std::uint32_t index = 0; index < processes; ++index) {
        for (std::uint32_t p = index * partitions; p < (index + 1) * partitions; ++p) {
            while (acknowledged_[p] <= stored[p]) {
                ASSERT_NO_FATAL_FAILURE(read_one(*running[index]));
            }
        }
    }
    for (auto& process : running) kill(process);
    const Positions after = verified();
    for (std::size_t p = 0; p < after.size(); ++p) EXPECT_GE(after[p], acknowledged_[p]);
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreClients, testing::ValuesIn(lab::store_kinds()),
                         [](const auto& kind) { return lab::name_of(kind.param); });
INSTANTIATE_TEST_SUITE_P(Azurite, StoreClients, testing::ValuesIn(lab::azurite_kinds()),
                         [](const auto& kind) { return lab::name_of(kind.param); });

}  // namespace
}  // namespace evenkeel::fault
