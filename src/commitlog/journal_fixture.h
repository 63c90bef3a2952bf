// Several logs that share a journal, on a simulated disk in virtual time, for the tests beside it.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "base/metrics.h"
#include "commitlog/journal.h"
#include "commitlog/journal_replay.h"
#include "commitlog/log.h"
#include "io/sim/disk.h"
#include "io/sim/scheduler.h"
#include "support/seed.h"

namespace evenkeel::commitlog {

class JournalFixture {
public:
    explicit JournalFixture(std::size_t partitions, std::unique_ptr<io::sim::Disk> used = nullptr,
                            std::uint64_t file_bytes_max = 1 << 20,
                            std::uint64_t seed = test::test_seed())
        : random(seed),
          scheduler(seed),
          disk(used ? std::move(used) : std::make_unique<io::sim::Disk>()),
          logs(partitions) {
        options.directory = "journal";
        options.file_bytes_max = file_bytes_max;
        options.growth_bytes = 4096;
        if (disk->make_directory("journal").ok()) {
            for (std::size_t i = 0; i < partitions; ++i) {
                EK_CHECK(create_log(*disk, folder(i), identity(i)).ok(), "an empty disk");
            }
            EK_CHECK(disk->sync_directory("").ok(), "a healthy disk");
        }
    }
    ~JournalFixture() { stop(); }
    JournalFixture(const JournalFixture&) = delete;
    JournalFixture& operator=(const JournalFixture&) = delete;

    static std::string folder(std::size_t partition) { return "p" + std::to_string(partition); }
    static LogIdentity identity(std::size_t partition) {
        return {Incarnation{std::byte{5}}, PartitionId{static_cast<std::uint32_t>(partition)}};
    }

    Result<Replayed> replay() {
        return replay_journals(*disk, "journal",
                               [this](const LogIdentity& who) -> std::optional<std::string> {
                                   if (who.partition.value >= logs.size()) return std::nullopt;
                                   return folder(who.partition.value);
                               });
    }
    Result<> open() {
        EK_TRY_ASSIGN(replayed, replay());
        journal = std::make_shared<Journal>(
            JournalContext{*disk, executor, background, loop.clock(), metrics}, options);
        for (std::size_t i = 0; i < logs.size(); ++i) {
            if (is_unreplayed(i)) continue;
            EK_TRY_ASSIGN(logs[i], Log::open({*disk, loop, executor, metrics, journal.get()},
                                             folder(i), identity(i), log_options));
        }
        return {};
    }
    bool is_unreplayed(std::size_t partition) const {
        return std::any_of(replayed.unreplayed.begin(), replayed.unreplayed.end(),
                           [&](const Unreplayed& refused) {
                               return refused.identity.partition.value == partition;
                           });
    }
    void run() { scheduler.run_until_idle(); }

    // The answer is in the vector when it has come.
    void append(std::size_t partition, const std::string& body) {
        const NewEvent event{{}, as_bytes(body)};
        logs[partition]->append({&event, 1}, [this, partition, body](const Result<Appended>& done) {
            (done.ok() ? acknowledged : refused).push_back({partition, body});
        });
    }
    // Up to its last acknowledged event, or what retention leaves.
    void remove_some(std::size_t partition) {
        auto& removal = removals[partition];
        const auto count = static_cast<std::size_t>(
            std::count_if(acknowledged.begin(), acknowledged.end(),
                          [&](const Sent& sent) { return sent.partition == partition; }));
        if (count == 0) return;
        if (random.chance(1, 2)) {
            removal.asked = count;
            logs[partition]->retain({.age_max = {}, .bytes_max = 1}, WallTime{0});
            return;
        }
        removal.asked = std::max(removal.asked, count - 1);
        logs[partition]->purge(logs[partition]->properties().last_sequence,
                               [&removal, count](const Result<>& done) {
                                   if (done.ok()) removal.done = count - 1;
                               });
    }
    std::vector<std::string> bodies(std::size_t partition) {
        std::vector<std::string> all;
        auto cursor = logs[partition]->seek(Position::earliest());
        while (cursor.ok()) {
            auto step = logs[partition]->read(*cursor, 4096);
            if (std::holds_alternative<std::monostate>(step)) break;
            if (const auto* slice = std::get_if<Slice>(&step)) {
                for (const auto& record : *slice) all.emplace_back(as_text(record.body));
                continue;
            }
            const auto outcome = std::get<ColdRead>(step).perform();
            if (!outcome.ok()) break;
            for (const auto& record : outcome->events) all.emplace_back(as_text(record.body));
            if (outcome->damage) all.emplace_back("damage");
            logs[partition]->advance(*cursor, *outcome);
        }
        return all;
    }
    // Notes "sync a.journal" and the like.
    void watch() {
        disk->set_hook([this](const io::sim::Operation& operation) {
            operations.push_back(std::string(io::sim::to_string(operation.kind)) + " " +
                                 std::string(operation.path));
        });
    }
    std::size_t count(std::string_view kind, std::string_view ending) const {
        std::size_t count = 0;
        for (const auto& operation : operations) {
            count += operation.starts_with(kind) && operation.ends_with(ending);
        }
        return count;
    }
    // As the power may leave it now.
    std::unique_ptr<io::sim::Disk> lose_power() {
        return disk->crash(random, io::sim::CrashPolicy::drop_all);
    }
    void close_logs() {
        for (auto& log : logs) log->close([] {});
        run();
        for (auto& log : logs) log.reset();
    }
    void stop() {
        for (auto& log : logs) log.reset();
        journal.reset();
        loop.discard();
        executor.discard();
        background.discard();
    }

    struct Sent {
        std::size_t partition = 0;
        std::string body;
        bool operator==(const Sent&) const = default;
    };
    // How many of a partition's first acknowledged events may be gone, and must be.
    struct Removal {
        std::size_t asked = 0;
        std::size_t done = 0;
    };
    using Removals = std::map<std::size_t, Removal>;

    Random random;
    io::sim::Scheduler scheduler;
    std::unique_ptr<io::sim::Disk> disk;
    io::sim::SimLoop loop{scheduler, "loop"};
    io::sim::SimExecutor executor{scheduler, "disk"};
    io::sim::SimExecutor background{scheduler, "background"};
    Metrics registry;
    LogMetrics metrics{registry};
    JournalOptions options;
    LogOptions log_options;
    Replayed replayed;
    std::shared_ptr<Journal> journal;
    std::vector<std::unique_ptr<Log>> logs;
    std::vector<Sent> acknowledged;
    std::vector<Sent> refused;
    Removals removals;
    std::vector<std::string> operations;
};

// What was acknowledged comes first in what is read, from where removals leave it; more may follow
// that never was.
inline std::string missing(JournalFixture& world,
                           const std::vector<JournalFixture::Sent>& acknowledged,
                           JournalFixture::Removals removals = {}) {
    for (std::size_t i = 0; i < world.logs.size(); ++i) {
        const auto read = world.bodies(i);
        std::vector<std::string> wanted;
        for (const auto& sent : acknowledged) {
            if (sent.partition == i) wanted.push_back(sent.body);
        }
        const auto& [asked, done] = removals[i];
        auto first = wanted.begin();
        if (asked > 0) {
            first = read.empty() ? first + static_cast<std::ptrdiff_t>(asked)
                                 : std::find(first, wanted.end(), read.front());
        }
        const auto gone = static_cast<std::size_t>(first - wanted.begin());
        const std::size_t left = wanted.size() - gone;
        if (gone > asked || gone < done || read.size() < left ||
            !std::equal(first, wanted.end(), read.begin())) {
            return fmt::format("partition {}: {} acknowledged, {} to {} removed, {} read", i,
                               wanted.size(), done, asked, read.size());
        }
    }
    return {};
}

}  // namespace evenkeel::commitlog
