// The reading side of a log: finds positions, gives records from memory or a read for a thread that
// may block, wakes those that wait at the end, and remembers the damage that readers met.
//
//   seek ──▶ Cursor ──▶ read ──▶ Slice (at once)
//                            ├─▶ ColdRead ──▶ perform(), on any thread ──▶ advance
//                            └─▶ nothing ──▶ wait
//
// Invariants
//   LOG-3  Nobody sees an event before it is durable, so what was seen survives a crash too.
// Ownership: owned by its log; changes nothing of the stream. A cursor belongs to its reader.
// Threads: pinned to the log's loop, but for ColdRead::perform().
// Failure: seek() refuses a position that never existed; damage is an outcome, not a failure.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/task.h"
#include "commitlog/log_context.h"
#include "commitlog/read.h"
#include "commitlog/stream.h"
#include <evenkeel/event.h>

namespace evenkeel::commitlog {

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

class LogReading {
public:
    LogReading(const LogContext& context, const Stream& stream, std::vector<Damage> damages)
        : context_(context), stream_(stream), damages_(std::move(damages)) {}

    // A cursor for the position. invalid_argument if it lies beyond the last event.
    Result<Cursor> seek(const Position& position) const;
    // The next records for the cursor. A slice has moved the cursor; a cold read moves it by
    // advance() when it was performed. Nothing means that the end was reached: see wait().
    ReadStep read(Cursor& cursor, std::size_t bytes_max) const;
    void advance(Cursor& cursor, const ReadOutcome& outcome);

    // Runs `task` once when there is something at the cursor, at once if there is already.
    enum class WaitId : std::uint64_t {};
    WaitId wait(const Cursor& cursor, Task task);
    void cancel(WaitId wait);
    // More is visible: runs the tasks of all who wait until now.
    void wake();
    // Forgets all who wait: there will be nothing more.
    void end_waits() { waiters_.clear(); }

    const std::vector<Damage>& damages() const { return damages_; }

private:
    struct Waiter {
        WaitId id{};
        Task task;
    };

    void place(Cursor& cursor) const;
    std::size_t segment_for(const Target& target, Offset from) const;
    ColdRead cold_read(Cursor& cursor, std::size_t bytes_max) const;
    SequenceNumber sequence_at(Offset offset) const;
    void check_state() const;

    const LogContext context_;
    const Stream& stream_;
    std::deque<Waiter> waiters_;  // by id
    std::uint64_t last_wait_ = 0;
    std::vector<Damage> damages_;  // met so far, by recovery and by readers
};

}  // namespace evenkeel::commitlog
