// Removes the beginning of a log: full segments that retention lets go, and events that an operator
// purges. What is gone is out of sight at once; the files go behind a durable mark (LOG-14).
//
//   start moves on the loop ──▶ disk thread: mark, sync, remove ──▶ answered
//
// A log that is to be emptied gets an empty successor first: its header keeps the numbers (LOG-4).
// Ownership: owned by its log. A removal keeps the writer alive; its answer is dropped with us.
// Threads: part of Log, on its loop; removals run on its disk executor.
// Failure: what could not be removed stays on disk and goes with the next removal.
#pragma once

#include <memory>

#include "base/lifetime.h"
#include "base/result.h"
#include "base/task.h"
#include "commitlog/log_context.h"
#include "commitlog/log_reading.h"
#include "commitlog/retention.h"
#include "commitlog/stream.h"

namespace evenkeel::commitlog {

class Removal {
public:
    using Done = Callback<void(Result<>)>;

    // `start_successor` gives the stream a new segment and has it created.
    Removal(const LogContext& context, Stream& stream, const LogReading& reading,
            std::shared_ptr<Writer> writer, Task start_successor);

    // Removes the segments that the policy lets go. `done` does not run if there are none.
    void retain(const RetentionPolicy& policy, WallTime now, Done done);
    // Removes the events before `first_kept`; `done` runs when that is durable.
    void purge(SequenceNumber first_kept, Done done);
    // After a flush: a purge of all events may have waited for the successor.
    void go_on(Done done);
    // Nothing is under way on the disk thread.
    bool idle() const { return under_way_ == 0; }

private:
    std::size_t expired(const RetentionPolicy& policy, WallTime now) const;
    void purge_to_record_at(ColdRead read, Done done);
    void purge_to(Offset start, SequenceNumber sequence, Done done);
    void remove_below_start(Done done);

    const LogContext context_;
    Stream& stream_;
    const LogReading& reading_;
    const std::shared_ptr<Writer> writer_;
    Task start_successor_;
    SequenceNumber durable_start_;  // where the stream begins by the mark on disk, or less
    std::size_t under_way_ = 0;     // reads and removals
    Lifetime lifetime_;             // of tasks that come back from the disk
};

}  // namespace evenkeel::commitlog
