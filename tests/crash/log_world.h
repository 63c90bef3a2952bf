// One log on one simulated disk, with a loop, a disk thread and virtual time of its own, and a
// history of what was asked of it.
#pragma once

#include <memory>
#include <string>

#include "base/metrics.h"
#include "commitlog/journal.h"
#include "commitlog/log.h"
#include "crash/checker.h"
#include "crash/history.h"
#include "io/sim/disk.h"
#include "io/sim/scheduler.h"

namespace evenkeel::crash {

// Who appends: the one at work, and one that looks whether the log still takes events.
inline constexpr std::uint32_t producer_id = 1;
inline constexpr std::uint32_t late_producer_id = 99;

inline constexpr const char* partition_folder = "p";
inline constexpr const char* journal_folder = "journal";
commitlog::LogIdentity test_identity();
// Small segments, close index entries and a short tail in memory, so that little work meets all of
// them; drawn.
commitlog::LogOptions small_options(Random& random);

// A journal that fits: small files that are used again soon, and batches that are too large for it.
commitlog::JournalOptions small_journal(const commitlog::LogOptions& options);

// A disk with an empty log on it, all of it durable.
std::unique_ptr<io::sim::Disk> a_disk();

class LogWorld {
public:
    LogWorld(std::uint64_t seed, std::unique_ptr<io::sim::Disk> disk,
             const commitlog::LogOptions& options);
    ~LogWorld();

    // Replays the journal, then recovers and opens the log.
    Result<> open();
    bool is_open() const { return log_ != nullptr; }
    // Flushes and closes.
    void close();
    // Lets go of log and disk thread in the middle of whatever they do, and of the disk.
    std::unique_ptr<io::sim::Disk> stop();

    commitlog::Log& log() { return *log_; }
    io::sim::Disk& disk() { return *disk_; }
    io::sim::Scheduler& scheduler() { return scheduler_; }
    io::sim::SimLoop& loop() { return loop_; }
    io::sim::SimExecutor& executor() { return executor_; }
    void run() { scheduler_.run_until_idle(); }

    // All of the log, in steps of about `bytes_max`. An error if a read fails or does not end.
    Result<Reading> read_all(std::size_t bytes_max = 1000);
    // What a reader gets who starts at the position.
    Result<Reading> read_from(const Position& position, std::size_t bytes_max = 1000);

private:
    std::unique_ptr<io::sim::Disk> disk_;
    const commitlog::LogOptions options_;
    Metrics metrics_;
    commitlog::LogMetrics log_metrics_{metrics_};
    io::sim::Scheduler scheduler_;
    io::sim::SimLoop loop_{scheduler_, "loop"};
    io::sim::SimExecutor executor_{scheduler_, "disk"};
    io::sim::SimExecutor background_{scheduler_, "background"};
    std::shared_ptr<commitlog::Journal> journal_;
    std::unique_ptr<commitlog::Log> log_;
};

// Appends one batch and records it in the history, which outlives the world. Keys are drawn.
void append(LogWorld& world, History& history, std::uint32_t producer,
            const std::vector<std::size_t>& body_bytes, Random& random, bool with_keys = true);

}  // namespace evenkeel::crash
