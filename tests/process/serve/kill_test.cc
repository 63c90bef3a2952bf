// A hub in a process of its own, killed under load again and again: what it acknowledged is there.
#include <algorithm>
#include <cstdlib>
#include <map>

#include <signal.h>

#include "base/clock.h"
#include "base/random.h"
#include "process/serve/kill_protocol.h"
#include "support/paths.h"
#include "support/process.h"
#include "support/seed.h"
#include "support/temporary_directory.h"
#include <evenkeel/hub.h>

namespace evenkeel::fault {
namespace {

constexpr std::uint32_t few_partitions = 8;
constexpr std::uint32_t many_partitions = 256;  // most flushes share their sync with others

// All that was ever acknowledged or seen, by partition and sequence number.
class Memory {
public:
    explicit Memory(std::uint32_t partitions) : seen_(partitions), acknowledged_(partitions, -1) {}

    void acknowledge(const Acknowledged& batch) {
        for (std::uint32_t i = 0; i < batch.count; ++i) {
            const std::int64_t sequence = batch.first_sequence + i;
            const std::string body = body_of(batch.cycle, batch.producer, batch.first_number + i);
            remember(batch.partition, sequence, body);
            auto& acknowledged = acknowledged_[batch.partition];
            acknowledged = std::max(acknowledged, sequence);
            ++count_;
        }
    }

    // Reads all of the partition: numbers without a gap from 0 on, known ones with their content.
    void verify(Hub& hub, std::uint32_t partition) {
        auto opened = hub.open_reader(event_hub, "$Default", partition, Position::earliest());
        ASSERT_TRUE(opened) << to_string(opened.error());
        const auto info = hub.describe(event_hub, partition);
        ASSERT_TRUE(info) << to_string(info.error());
        EXPECT_TRUE(info->problems.empty()) << info->problems.front();
        std::int64_t next = 0;
        while (next <= info->last_enqueued_sequence_number) {
            const auto batch = (*opened)->read(1000, std::chrono::seconds(10));
            ASSERT_TRUE(batch) << "partition " << partition << ": " << to_string(batch.error());
            ASSERT_FALSE(batch->empty()) << "partition " << partition << " ends before " << next;
            for (const auto& event : *batch) {
                ASSERT_EQ(event.sequence_number, next) << "partition " << partition;
                remember(partition, next, event.text());
                ++next;
            }
        }
        ASSERT_GT(next, acknowledged_[partition])
            << "partition " << partition << " lost what it had acknowledged";
    }

    void verify(const std::string& folder) {
        auto hub = Hub::open(hub_options(folder));
        ASSERT_TRUE(hub) << to_string(hub.error());
        for (std::uint32_t partition = 0; partition < seen_.size(); ++partition) {
            verify(**hub, partition);
            if (testing::Test::HasFatalFailure()) return;
        }
    }

    std::uint64_t count() const { return count_; }

private:
    void remember(std::uint32_t partition, std::int64_t sequence, std::string_view body) {
        const std::size_t hash = std::hash<std::string_view>()(body);
        const auto [known, is_new] = seen_[partition].emplace(sequence, hash);
        ASSERT_EQ(known->second, hash) << "partition " << partition << ": number " << sequence
                                       << " was used for another event";
    }

    std::vector<std::map<std::int64_t, std::size_t>> seen_;
    std::vector<std::int64_t> acknowledged_;
    std::uint64_t count_ = 0;
};

std::vector<std::string> target(const std::string& folder, int cycle, std::uint32_t partitions) {
    return {test::built_path("tests/process/serve/kill_target"), folder, std::to_string(cycle),
            std::to_string(partitions)};
}

void kill_again_and_again(int cycles, std::uint32_t partitions) {
    const test::TemporaryDirectory directory;
    const std::string folder = directory.path() + "/hub";
    Random random(test::fresh_seed());
    const SystemClock clock;
    Memory memory(partitions);
    double under_load_seconds = 0;

    for (int cycle = 0; cycle < cycles; ++cycle) {
        Process process(target(folder, cycle, partitions));
        // Mostly in the middle of things, now and then just after the start.
        const bool soon = random.chance(1, 4);
        const std::uint64_t kill_after = soon ? 1 + random.below(20) : 100 + random.below(300);
        Acknowledged batch;
        Instant first;
        std::uint64_t batches = 0;
        while (batches < kill_after && process.read_output(&batch, sizeof batch)) {
            if (batches == 0) first = clock.now();
            memory.acknowledge(batch);
            ++batches;
        }
        ASSERT_EQ(batches, kill_after) << process.rest_of_errors();
        process.signal(SIGKILL);
        under_load_seconds += std::chrono::duration<double>(clock.now() - first).count();
        // What was acknowledged before the kill reached it counts too.
        while (process.read_output(&batch, sizeof batch)) memory.acknowledge(batch);
        const Ended ended = process.wait();
        EXPECT_FALSE(ended.exited) << "exit code " << ended.code;

        memory.verify(folder);
        if (testing::Test::HasFatalFailure()) FAIL() << "after kill " << cycle;
    }
    const double rate = static_cast<double>(memory.count()) / under_load_seconds;
    testing::Test::RecordProperty("events", std::to_string(memory.count()));
    std::printf("%d kills, %llu events acknowledged, %.0f a second\n", cycles,
                static_cast<unsigned long long>(memory.count()), rate);
    EXPECT_GE(memory.count(), static_cast<std::uint64_t>(cycles) * 100);
}

TEST(KillUnderLoad, keeps_every_acknowledged_event_through_40_kills) {
    kill_again_and_again(40, few_partitions);
}

TEST(KillUnderLoad, keeps_what_256_partitions_acknowledged) {
    kill_again_and_again(std::getenv("EVENKEEL_LONG") ? 100 : 10, many_partitions);
}

TEST(KillUnderLoad, goes_on_after_a_clean_end_with_the_next_number) {
    const test::TemporaryDirectory directory;
    const std::string folder = directory.path() + "/hub";
    Memory memory(few_partitions);
    for (int cycle = 0; cycle < 2; ++cycle) {
        Process process(target(folder, cycle, few_partitions));
        Acknowledged batch;
        for (int i = 0; i < 20; ++i) {
            ASSERT_TRUE(process.read_output(&batch, sizeof batch)) << process.rest_of_errors();
            memory.acknowledge(batch);
        }

        process.close_input();
        while (process.read_output(&batch, sizeof batch)) memory.acknowledge(batch);

        const Ended ended = process.wait();
        EXPECT_TRUE(ended.exited);
        EXPECT_EQ(ended.code, 0) << process.rest_of_errors();
    }
    memory.verify(folder);
}

TEST(SecondProcess, is_refused_with_a_conflict_that_names_the_first) {
    const test::TemporaryDirectory directory;
    const std::string folder = directory.path() + "/hub";
    Process first(target(folder, 0, few_partitions));
    Acknowledged batch;
    ASSERT_TRUE(first.read_output(&batch, sizeof batch)) << first.rest_of_errors();

    const auto second = Hub::open(hub_options(folder));

    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ErrorCode::conflict) << to_string(second.error());
    EXPECT_NE(second.error().detail.find(std::to_string(first.id())), std::string::npos)
        << second.error().detail;
    EXPECT_TRUE(first.read_output(&batch, sizeof batch)) << "the first one is not disturbed";
}

}  // namespace
}  // namespace evenkeel::fault
