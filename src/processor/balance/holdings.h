// The partitions whose entries name us, and what the pumps do with each.
//
//     held, unverified ──own write succeeded──▶ held, verified ──▶ host.open(epoch)
//          ▲                                        │
//          └── lease lapsed, reader cut ── close ◀──┤
//                                                   └── drain() ──▶ closed, ready to be given away
//
// Invariants
//   OWN-7  A pump is opened only for what is held and verified, and with a higher epoch each time.
//   OWN-8  may_act() is true only while that pump is open or drains gracefully.
//   OWN-9  Nothing is opened before the close() before it has answered.
// Threads: pinned to the coordinator's loop.
#pragma once

#include <cstdint>
#include <map>

#include "base/clock.h"
#include "base/ids.h"
#include "base/lifetime.h"
#include "base/task.h"
#include "checkpoint/store.h"
#include "processor/host.h"

namespace evenkeel::processor {

struct Holding {
    checkpoint::Ownership entry;
    bool is_verified = false;
    bool is_handing_over = false;  // drain() was called: not opened again until release_hold()
    Instant renewed;               // when our last good write was asked for
    Instant not_before;            // no renewal before: the reader was cut again and again
    std::uint32_t fences = 0;      // in a row
    Instant opened;
};

class Holdings {
public:
    explicit Holdings(PartitionHost& host) : host_(host) {}

    const std::map<PartitionId, Holding>& all() const { return held_; }
    Holding* find(PartitionId partition);
    const Holding* find(PartitionId partition) const;

    // The entry names us. `is_verified`: by a write of ours that counts (OWN-2); then the pump is
    // opened as soon as it may be.
    void hold(const checkpoint::Ownership& entry, bool is_verified, Instant now);
    // May no longer be read until a new write: closes as lost.
    void unverify(PartitionId partition);
    void unverify_all();
    // Not ours any more: closes as lost.
    void forget(PartitionId partition);
    // Handed over, after drain(); nothing is left to close.
    void let_go(PartitionId partition);
    // Closes gracefully, then `done`; at once if nothing is open.
    void drain(PartitionId partition, CloseReason reason, Task done);
    // The hand-over came to nothing: needs a write before it is read again.
    void keep(PartitionId partition);

    bool may_act(PartitionId partition) const;
    bool is_open(PartitionId partition) const;
    bool is_closed(PartitionId partition) const;
    // All pumps have answered their close().
    bool all_closed() const;
    // No more calls of the host, and no answers from it.
    void abandon() { lifetime_.end(); }

private:
    enum class State : std::uint8_t { closed, open, closing };
    struct Pump {
        State state = State::closed;
        CloseReason reason = CloseReason::lost;
        std::uint64_t turn = 0;
        Epoch epoch;  // with which it was opened last
        Task closed;
    };

    void open_if_due(PartitionId partition);
    void close(PartitionId partition, CloseReason reason);
    void on_closed(PartitionId partition, std::uint64_t turn);

    PartitionHost& host_;
    std::map<PartitionId, Holding> held_;
    std::map<PartitionId, Pump> pumps_;
    Lifetime lifetime_;
};

}  // namespace evenkeel::processor
