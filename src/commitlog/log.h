// A partition's commit log: batches appended to segment files, read by position.
//
//   append ──▶ tail in memory ──▶ flush (disk thread) ──▶ acknowledged, visible to readers
//                                  active segment ──▶ sealed segments ──▶ retention ──▶ removed
//
// Group commit: one flush at a time; what is appended while it runs goes with the next one, so many
// batches share one sync. Flushes of different partitions take turns on the disk thread.
//
// Invariants (LOG-1, LOG-4 and LOG-5 are in commitlog/stream.h, LOG-3 in commitlog/log_reading.h)
//   LOG-2  What append() acknowledged survives a crash.
//   LOG-6  A failed flush is final for its bytes: its batches and all behind them are refused;
//          the log takes new ones as soon as the disk does, in a new segment.
// Ownership: owns its stream, its reading side, its removals and its writer.
// Threads: pinned to its loop, but for create() and open(), which block, and ColdRead::perform().
// Format: docs/formats/segment.md.
#pragma once

#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/lifetime.h"
#include "base/task.h"
#include "commitlog/log_context.h"
#include "commitlog/log_reading.h"
#include "commitlog/recovery.h"
#include "commitlog/removal.h"
#include "commitlog/retention.h"
#include "commitlog/stream.h"
#include "commitlog/writer.h"
#include "io/file.h"
#include "io/loop.h"
#include <evenkeel/event.h>

namespace evenkeel::commitlog {

struct LogOptions {
    std::uint64_t segment_bytes_max = std::uint64_t{64} << 20;
    std::uint64_t index_distance = index_distance_default;
    std::size_t tail_bytes_max = std::size_t{4} << 20;  // kept in memory for readers at the end
    std::size_t pending_bytes_max = std::size_t{32}
                                    << 20;               // taken but not durable; more is refused
    std::size_t flush_bytes_max = std::size_t{8} << 20;  // of one turn on the disk thread
    Durability durability = Durability::disk;
};

struct LogProperties {
    SequenceNumber begin_sequence;  // of the first event that is there
    SequenceNumber last_sequence;   // of the last event ever
    Offset last_offset;
    WallTime last_enqueued{0};
    bool is_empty = true;
    std::uint64_t bytes = 0;  // on disk
};

class Log {
public:
    // A new one, in a folder that does not exist; blocks.
    static Result<std::unique_ptr<Log>> create(const LogContext& context, std::string directory,
                                               const LogIdentity& identity,
                                               const LogOptions& options);
    // Recovers and opens; blocks. The log belongs to context.loop afterwards.
    static Result<std::unique_ptr<Log>> open(const LogContext& context, std::string directory,
                                             const LogIdentity& identity,
                                             const LogOptions& options);
    ~Log();

    // Copies the events; `done` runs once, on the loop, when they are durable or refused. Refused
    // with `overloaded` when the disk is full or too much is waiting, `unavailable` when the disk
    // failed, `cancelled` after close().
    void append(std::span<const NewEvent> events, Callback<void(Result<Appended>)> done);

    // As LogReading has them.
    Result<Cursor> seek(const Position& position) const { return reading_.seek(position); }
    ReadStep read(Cursor& cursor, std::size_t bytes_max) {
        return reading_.read(cursor, bytes_max);
    }
    void advance(Cursor& cursor, const ReadOutcome& outcome) { reading_.advance(cursor, outcome); }
    using WaitId = LogReading::WaitId;
    WaitId wait(const Cursor& cursor, Task task) { return reading_.wait(cursor, std::move(task)); }
    void cancel(WaitId wait) { reading_.cancel(wait); }

    // Behind the last event that readers can see.
    Offset end() const { return stream_.visible().offset; }
    LogProperties properties() const;
    // Damage met so far, by recovery and by readers.
    const std::vector<Damage>& damages() const { return reading_.damages(); }
    const std::vector<std::string>& odd_files() const { return odd_files_; }

    // Removes the segments that the policy lets go. `now` comes from a RetentionClock.
    void retain(const RetentionPolicy& policy, WallTime now);
    // Removes the events before `first_kept`; `done` runs when that is durable.
    void purge(SequenceNumber first_kept, Callback<void(Result<>)> done);

    // Flushes what was taken, then refuses; `done` runs when nothing is under way any more.
    void close(Task done);

private:
    static Result<std::unique_ptr<Log>> make(const LogContext& context, std::string directory,
                                             const LogIdentity& identity, const LogOptions& options,
                                             Recovered recovered);
    struct Waiting {
        StreamEnd end;  // behind its last event
        Appended appended;
        Instant queued;
        Callback<void(Result<Appended>)> done;
    };
    // Planned on the loop; the disk thread adds how it went.
    struct Flushing {
        Flush plan;
        FlushOutcome outcome;
    };

    Log(const LogContext& context, std::string directory, const LogIdentity& identity,
        const LogOptions& options, Recovered recovered, std::shared_ptr<Writer> writer);

    Result<> admit(std::span<const NewEvent> events, std::uint64_t& bytes) const;
    void flush_if_idle();
    Flush plan_flush();
    void on_flushed();
    void acknowledge(Offset durable);
    void refuse_all(const Error& error);
    void finish_close_if_idle();
    void check_state() const;

    const LogContext context_;
    const std::string directory_;
    const LogOptions options_;
    const std::shared_ptr<Writer> writer_;
    const std::vector<std::string> odd_files_;
    Stream stream_;
    LogReading reading_;
    Removal removal_;

    std::deque<Waiting> waiting_;         // batches that were taken and are not durable
    std::shared_ptr<Flushing> flushing_;  // under way on the disk thread
    // The active file takes nothing more, because a flush to it or to its successor failed: a
    // failed sync leaves a page cache that cannot be trusted (LOG-6), refused records that could
    // not be cut off would line up with what is written over them, and the name of a successor that
    // could not be created may come back after a crash and hide what was stored below it.
    bool abandoned_ = false;
    // Closing: flush what waits, save the mark, then answer.
    bool closing_ = false;
    enum class Save : std::uint8_t { not_begun, under_way, done } save_ = Save::not_begun;
    Task closed_;
    Lifetime lifetime_;  // of tasks that come back from the disk
};

}  // namespace evenkeel::commitlog
