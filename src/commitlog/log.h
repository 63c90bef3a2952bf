// A partition's commit log: batches appended to segment files, read by position.
//
//   append ──▶ tail in memory ──▶ flush (disk thread) ──▶ acknowledged, visible to readers
//                                  active segment ──▶ sealed segments ──▶ retention ──▶ removed
//
// Group commit: one flush at a time; what is appended while it runs goes with the next one, so many
// batches share one sync. Flushes of different partitions take turns on the disk thread.
//
// Invariants
//   LOG-1  Sequence numbers are dense; a batch is contiguous, in one segment, all or nothing.
//   LOG-2  What append() acknowledged survives a crash.
//   LOG-3  Nobody sees an event before it is durable, so what was seen survives a crash too.
//   LOG-4  A number that was acknowledged or seen is never given out again, nor an offset.
//   LOG-5  Enqueued times never fall within a partition.
//   LOG-6  A failed flush is final for its bytes: its batches and all behind them are refused;
//          the log takes new ones as soon as the disk does, in a new segment.
// Threads: pinned to its loop, but for create() and open(), which block, and ColdRead::perform().
// Format: docs/formats/segment.md.
#pragma once

#include <deque>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/lifetime.h"
#include "base/task.h"
#include "commitlog/read.h"
#include "commitlog/recovery.h"
#include "commitlog/retention.h"
#include "commitlog/tail.h"
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

// What a log runs on; all of it outlives the log.
struct LogContext {
    io::FileSystem& files;
    io::Loop& loop;
    io::Executor& disk;
    LogMetrics& metrics;
};

struct NewEvent {
    ByteView key;   // partition key; may be empty
    ByteView body;  // encoded AMQP sections
};

struct Appended {
    SequenceNumber first;
    SequenceNumber last;
    Offset last_offset;
    WallTime enqueued;
};

struct LogProperties {
    SequenceNumber begin_sequence;  // of the first event that is there
    SequenceNumber last_sequence;   // of the last event ever
    Offset last_offset;
    WallTime last_enqueued{0};
    bool is_empty = true;
    std::uint64_t bytes = 0;  // on disk
};

// A reader's place; made by Log::seek, moved by Log::read and Log::advance.
struct Cursor {
    Offset next;
    SequenceNumber sequence;
    std::optional<Target> target;  // events before it are passed over
    bool search = false;           // `next` is only a lower bound of the target's place
    std::shared_ptr<SegmentFile> file;
};

// What a read gives: records at once, a read for a thread that may block, or nothing yet.
using ReadStep = std::variant<std::monostate, Slice, ColdRead>;

class Log {
public:
    static Result<> create(io::FileSystem& files, const std::string& directory,
                           const LogIdentity& identity) {
        return create_log(files, directory, identity);
    }
    // Recovers and opens; blocks. The log belongs to context.loop afterwards.
    static Result<std::unique_ptr<Log>> open(const LogContext& context, std::string directory,
                                             const LogIdentity& identity,
                                             const LogOptions& options);
    ~Log();

    // Copies the events; `done` runs once, on the loop, when they are durable or refused. Refused
    // with `overloaded` when the disk is full or too much is waiting, `unavailable` when the disk
    // failed, `cancelled` after close().
    void append(std::span<const NewEvent> events, Callback<void(Result<Appended>)> done);

    // A cursor for the position. invalid_argument if it lies beyond the last event.
    Result<Cursor> seek(const Position& position) const;
    // The next records for the cursor. A slice has moved the cursor; a cold read moves it by
    // advance() when it was performed. Nothing means that the end was reached: see wait().
    ReadStep read(Cursor& cursor, std::size_t bytes_max);
    void advance(Cursor& cursor, const ReadOutcome& outcome);

    // Runs `task` once when there is something at the cursor, at once if there is already.
    enum class WaitId : std::uint64_t {};
    WaitId wait(const Cursor& cursor, Task task);
    void cancel(WaitId wait);

    // Behind the last event that readers can see.
    Offset end() const { return visible_; }
    LogProperties properties() const;
    // Damage met so far, by recovery and by readers.
    const std::vector<Damage>& damages() const { return damages_; }
    const std::vector<std::string>& odd_files() const { return odd_files_; }

    // Removes the segments that the policy lets go. `now` comes from a RetentionClock.
    void retain(const RetentionPolicy& policy, WallTime now);
    // Removes the events before `first_kept`; `done` runs when that is durable.
    void purge(SequenceNumber first_kept, Callback<void(Result<>)> done);

    // Flushes what was taken, then refuses; `done` runs when nothing is under way any more.
    void close(Task done);

private:
    struct Segment {
        SegmentHeader header;
        bool floor_known = true;
        bool lost = false;
        bool exists = true;  // false until a flush has created it
        std::weak_ptr<SegmentFile> file;
    };
    struct Waiting {
        Offset end;
        SequenceNumber end_sequence;
        std::uint32_t last_record_bytes = 0;
        Appended appended;
        Instant queued;
        Callback<void(Result<Appended>)> done;
    };
    // Planned on the loop; the disk thread adds how it went.
    struct Flushing {
        Flush plan;
        FlushOutcome outcome;
    };
    struct Waiter {
        WaitId id{};
        Task task;
    };

    Log(const LogContext& context, std::string directory, const LogIdentity& identity,
        const LogOptions& options, Recovered recovered);

    Result<> admit(std::span<const NewEvent> events, std::uint64_t& bytes) const;
    void start_segment();
    void flush_if_idle();
    Flush plan_flush() const;
    void on_flushed();
    void refuse_all(const Error& error);
    void set_next_index();
    void acknowledge();
    void finish_close_if_idle();
    Mark next_mark(std::uint64_t counter_step);

    std::size_t segment_of(Offset offset) const;
    Offset segment_end(std::size_t index) const;
    SequenceNumber segment_end_sequence(std::size_t index) const;
    WallTime last_time_of(std::size_t index) const;
    std::shared_ptr<SegmentFile> file_of(Segment& segment);
    ColdRead cold_read(Cursor& cursor, std::size_t bytes_max);
    void place(Cursor& cursor);

    void set_start(Offset start, SequenceNumber sequence);
    void remove_below_start(Callback<void(Result<>)> done);

    const LogContext context_;
    const std::string directory_;
    const LogIdentity identity_;
    const std::uint32_t seed_;
    const LogOptions options_;
    std::shared_ptr<Writer> writer_;
    Lifetime lifetime_;  // of tasks that come back from the disk

    // start_ ≤ visible_ ≤ tail_.end(): removed | readable | taken but not durable.
    std::deque<Segment> segments_;
    Tail tail_;
    Offset start_{0};
    SequenceNumber start_sequence_{0};
    SequenceNumber durable_start_{0};  // start_sequence_ as the mark on disk has it, or less
    Offset visible_{0};
    SequenceNumber visible_sequence_{0};
    SequenceNumber next_sequence_{0};
    WallTime last_time_{0};     // of the last event taken
    WallTime visible_time_{0};  // of the last event that is visible
    std::uint32_t last_record_bytes_ = 0;
    std::uint32_t visible_record_bytes_ = 0;
    std::uint64_t mark_counter_ = 0;

    std::vector<IndexEntry> index_;          // of the active segment, visible part
    std::vector<IndexEntry> pending_index_;  // of records not yet flushed, any segment
    Offset next_index_;                      // the record from there on gets the next entry
    std::shared_ptr<Flushing> flushing_;     // under way on the disk thread
    // The active file takes nothing more, because a flush to it or to its successor failed: a
    // failed sync leaves a page cache that cannot be trusted (LOG-6), refused records that could
    // not be cut off would line up with what is written over them, and the name of a successor that
    // could not be created may come back after a crash and hide what was stored below it.
    bool abandoned_ = false;
    std::size_t disk_tasks_ = 0;
    std::deque<Waiting> waiting_;
    std::deque<Waiter> waiters_;  // by id
    std::uint64_t last_wait_ = 0;
    std::vector<Damage> damages_;
    std::vector<std::string> odd_files_;
    bool closing_ = false;
    bool saved_ = false;
    Task closed_;
};

}  // namespace evenkeel::commitlog
