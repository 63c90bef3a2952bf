// Commit logs on threads as the hub runs them, and a load that keeps them busy, for benchmarks.
//
//   client threads ──▶ loop/0: logs 0..n ──▶ disk/0, disk/1 ──▶ loop/0: acknowledged, next append
//                                            each with a journal
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "base/result.h"
#include "commitlog/journal.h"
#include "commitlog/log.h"
#include "io/system/files.h"
#include "io/system/loop.h"

namespace evenkeel::bench {

// Threads: the one that made it, but for what says otherwise.
class LogRig {
public:
    struct Options {
        std::uint32_t partitions = 1;
        std::uint32_t disk_threads = 2;
        bool journal = true;  // small flushes share it, as in a hub
        commitlog::LogOptions log;
    };

    // New logs in `folder`, which exists and is empty.
    static Result<std::unique_ptr<LogRig>> make(const std::string& folder, const Options& options);
    // Closes the logs and ends the threads.
    ~LogRig();

    io::system::LoopThread& loop() { return loop_; }
    // Used on the loop.
    std::vector<std::unique_ptr<commitlog::Log>>& logs() { return logs_; }
    const commitlog::LogMetrics& metrics() const { return log_metrics_; }

private:
    LogRig() = default;
    Result<> add_journals(const std::string& folder);

    io::system::SystemFiles files_;
    Metrics metrics_;
    commitlog::LogMetrics log_metrics_{metrics_};
    std::vector<std::unique_ptr<io::system::WorkerThread>> disks_;
    io::system::WorkerThread background_{"metadata"};
    std::vector<std::shared_ptr<commitlog::Journal>> journals_;  // by disk thread
    io::system::LoopThread loop_{"loop/0"};
    std::vector<std::unique_ptr<commitlog::Log>> logs_;
};

// Writers that append a batch, wait until it is acknowledged, and append the next.
class AppendLoad {
public:
    struct Options {
        std::uint32_t writers = 1;  // spread over the partitions
        std::size_t batch_events = 1;
        std::size_t event_bytes = 100;
        // Threads from which the writers come, each append by a message; 0: the loop itself.
        std::uint32_t client_threads = 0;
    };

    AppendLoad(LogRig& rig, const Options& options);
    ~AppendLoad();

    void start();
    // Waits until nothing is under way any more. An append that was refused is the error.
    Result<> stop();

    // Acknowledged so far; threads: any.
    std::uint64_t events() const { return events_.load(std::memory_order_relaxed); }
    std::size_t stored_bytes_per_event() const;

private:
    void append(std::uint32_t writer);
    void on_done(std::uint32_t writer, Result<commitlog::Appended> result);
    void finish_one();

    LogRig& rig_;
    const Options options_;
    std::vector<std::byte> bytes_;
    std::vector<commitlog::NewEvent> batch_;
    std::vector<std::unique_ptr<io::system::WorkerThread>> clients_;
    std::vector<SequenceNumber> last_;  // of each partition; on the loop
    std::optional<Error> error_;        // on the loop
    std::atomic<std::uint64_t> events_{0};
    std::atomic<bool> stopping_{false};

    Mutex mutex_;
    Condition finished_;
    std::uint32_t running_ EK_GUARDED_BY(mutex_) = 0;
};

}  // namespace evenkeel::bench
