// Partitions on their way to other members, gracefully:
//
//     offered ──receiver looks often, or waited enough──▶ draining ──closed, progress stored──▶
//        writing the new owner ──▶ gone   (or kept: the receiver left, the answer was lost)
//
// Reading goes on until the receiver waits for it. A transfer always names its receiver; only the
// last member writes an empty owner.
// Ownership: all collaborators outlive it. Threads: part of Coordinator, on its loop.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "base/clock.h"
#include "base/ids.h"
#include "base/lifetime.h"
#include "checkpoint/store.h"
#include "io/loop.h"
#include "processor/balance/holdings.h"
#include "processor/balance/members.h"
#include "processor/ownership/ownership_writer.h"
#include "processor/ownership/ownerships.h"

namespace evenkeel::processor {

class HandOvers {
public:
    // So many at a time: entries of members have bounds in some stores.
    static constexpr std::size_t count_max = 200;

    struct Collaborators {
        io::Loop& loop;
        OwnershipWriter& writer;
        Holdings& holdings;
        const Ownerships& ownerships;
        const Members& members;
    };
    enum class Outcome : std::uint8_t { given, kept, lost, unknown };
    using Ended = std::function<void(PartitionId, Outcome)>;

    // `ended` after each, when its offer is gone from offers().
    HandOvers(const Collaborators& with, Ended ended) : with_(with), ended_(std::move(ended)) {}

    // Offers it, or releases it if `to` is empty. Waits for the receiver at most until
    // `wait_until`.
    void begin(PartitionId partition, const std::string& to, CloseReason reason,
               Instant wait_until);
    // Goes on with those whose receiver waits now, drops those whose receiver is gone.
    void advance();
    // When advance() should be called at the latest.
    Instant next_deadline() const;

    bool contains(PartitionId partition) const { return running_.contains(partition); }
    bool empty() const { return running_.empty(); }
    // What to tell the others; without those that are released.
    const std::map<PartitionId, std::string>& offers() const { return offers_; }
    // Drops all of them; `ended` is not called.
    void abandon() { lifetime_.end(); }

private:
    enum class Step : std::uint8_t { offered, draining, writing };
    struct Running {
        std::string to;
        CloseReason reason;
        Instant wait_until;
        Step step = Step::offered;
    };

    void drain(PartitionId partition);
    void on_drained(PartitionId partition);
    void write(PartitionId partition);
    void on_written(PartitionId partition, const Result<checkpoint::Ownership>& result);
    void end(PartitionId partition, Outcome outcome);
    void check_state(PartitionId partition) const;

    const Collaborators with_;
    const Ended ended_;
    std::map<PartitionId, Running> running_;
    std::map<PartitionId, std::string> offers_;
    Lifetime lifetime_;
};

}  // namespace evenkeel::processor
