// How long to wait after the group has changed, so that all members plan from the same news.
//
//     joined, died, loads changed ──settle──▶ calm: partitions may be moved
//     leave() ──settle, again for each that joins or leaves, at most three──▶ gives its partitions
//
// No I/O; the caller passes the time. Threads: one.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "processor/balance/members.h"
#include "processor/ownership/timing.h"

namespace evenkeel::processor {

class Settling {
public:
    explicit Settling(const Timing& timing) : timing_(timing) {}

    void start(Instant now);
    // The store notifies of changes: members see them sooner.
    void set_push(bool has_push) { has_push_ = has_push; }
    // This member leaves from now on.
    void leave(Instant now);
    void on_change(const Members::Change& change, Instant now);
    // Nothing is moved by half of the loads; but if they never end changing, once a heartbeat.
    void on_loads_changed(Instant now);

    bool is_calm(Instant now) const { return now >= calm_at_; }
    // Of a member that leaves: it gives by a listing that was asked for at this time or later.
    Instant gives_from() const { return gives_from_; }

private:
    enum class State : std::uint8_t { created, staying, leaving };

    Duration settle() const { return has_push_ ? timing_.settle_push : timing_.settle; }
    void await_others(Instant now);
    void check_state() const;

    const Timing& timing_;
    State state_ = State::created;
    bool has_push_ = false;
    Instant calm_at_;
    Instant loads_changed_;  // when we last waited because of that
    Instant left_at_;
    Instant gives_from_;
};

}  // namespace evenkeel::processor
