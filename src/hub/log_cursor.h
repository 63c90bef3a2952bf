// A reader's place in the log of one partition. PartitionStream reads through it, so that a second
// kind of log needs no more than another implementation.
//
// Cost: one virtual call for each slice, none for an event.
// Threads: pinned to the hub's loop.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/ids.h"
#include "base/result.h"
#include "base/task.h"
#include "commitlog/log.h"

namespace evenkeel::hub {

class LogCursor {
public:
    virtual ~LogCursor() = default;

    // The next events at once, a cold read, or nothing yet. A slice has moved the cursor; a cold
    // read moves it by advance(). Fails with the reason once the reader has ended.
    virtual Result<commitlog::ReadStep> read(std::size_t bytes_max) = 0;
    // A cold read was performed.
    virtual void advance(const commitlog::ReadOutcome& outcome) = 0;
    // A cold read from here failed with `not_found`: its file is gone. The next read() continues
    // behind the events that retention removed, or reports the events of the file as damage.
    virtual void missed(Offset from) = 0;
    // Goes back to an event that was read before. False if it cannot.
    virtual bool rewind(SequenceNumber sequence) = 0;
    // Runs `task` once when there is something to read, within the call if there is already; not
    // after the end. One at a time.
    virtual void wait(Task task) = 0;
    virtual void cancel_wait() = 0;
    // Behind everything that was read.
    virtual Offset next() const = 0;
    // So many events were sent to the client; for Partition::traffic(). Called once for a slice.
    virtual void count_sent(std::int64_t events) = 0;
};

}  // namespace evenkeel::hub
