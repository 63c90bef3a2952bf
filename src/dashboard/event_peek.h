// Reads events of one partition for an operator: in no group, displacing nobody, and never longer
// than there is something to read.
//
//     start ──▶ each event to `visit` ──▶ visit said stop, or the end was reached ──▶ done
//
// After each slice the loop has its turn.
// Ownership: keeps itself alive until it has answered. Loop, reads and partition's hub outlive it;
// a hub that is closed ends it.
// Threads: pinned to the hub's loop; what is not in memory is read on `reads`.
// Failure: damage is skipped and reported; what ends the stream is the answer.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/lifetime.h"
#include "base/result.h"
#include "base/task.h"
#include "hub/partition.h"
#include "hub/partition_stream.h"
#include "io/loop.h"
#include <evenkeel/event.h>

namespace evenkeel::dashboard {

class EventPeek final : private hub::PartitionStream::Owner {
public:
    struct Ended {
        bool at_end = false;                // everything was read
        std::vector<std::string> problems;  // "events 17 to 18 are damaged"
    };
    using Visit = std::function<bool(const Event&)>;  // false: that is enough
    using Done = Callback<void(Result<Ended>)>;

    static void start(io::Loop& loop, io::Executor& reads, hub::Partition& partition,
                      const Position& position, Visit visit, Done done);

    // Use start().
    EventPeek(io::Loop& loop, io::Executor& reads, Visit visit, Done done);

private:
    void on_ready() override;
    void on_ended(const Error& why) override;
    void step();
    void finish(Result<Ended> result);

    io::Loop& loop_;
    hub::ExecutorReads reads_;
    hub::PartitionStream stream_;
    Visit visit_;
    Done done_;
    Ended ended_;
    std::shared_ptr<EventPeek> self_;  // until it has answered
};

}  // namespace evenkeel::dashboard
