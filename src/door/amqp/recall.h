// What the end of a partition's log tells of its idempotent producers, so that their numbers
// outlive a restart of the hub: docs/adr/0008-producers-numbers-after-a-restart.md.
//
//   first attach ──▶ the last 16 MiB, piece by piece on the reads executor ──▶ Producers ──▶ answer
//   other attaches meanwhile ──────────────────── wait with it ────────────────────────────▶ answer
//
// Once for a partition and a start. No event is numbered in a partition before its end was read, so
// that what is restored is never older than what is known.
// Threads: pinned to the door's loop.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/task.h"
#include "door/amqp/producers.h"
#include "hub/event_hub.h"
#include "io/loop.h"

namespace evenkeel::door {

// Of each producer that is met the highest epoch, the last number of that epoch, and what the batch
// with that number holds, if it was met from its first event on.
class LastNumbers {
public:
    struct Last {
        ProducerState state;
        BatchContent batch = {};
        std::uint32_t next_index = 0;  // in its batch; 0: not from its first event on
    };
    // In the order of the log.
    void take(const commitlog::Slice& events);
    const std::map<std::int64_t, Last>& by_id() const { return by_id_; }

private:
    std::map<std::int64_t, Last> by_id_;
};

class Recall {
public:
    static constexpr std::int64_t log_bytes_max = std::int64_t{16} << 20;

    // All of them outlive it.
    Recall(io::Loop& loop, io::Executor& reads, Producers& producers);
    ~Recall();

    // Runs `ready` when the partition's producers are known: at once if they are, or if it is
    // empty. Events that cannot be read are reported in a warning; `ready` runs all the same.
    void prepare(hub::EventHub& event_hub, PartitionId partition, Task ready);

private:
    class Reading;  // of one partition, under way

    // Restores what was found, and answers all who wait. Destroys the reading.
    void finish(Reading& reading);

    static constexpr std::size_t places_max = 100'000;

    io::Loop& loop_;
    io::Executor& reads_;
    Producers& producers_;
    std::map<ProducerPlace, std::unique_ptr<Reading>> readings_;
    std::set<ProducerPlace> known_;
};

}  // namespace evenkeel::door
