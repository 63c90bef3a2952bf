// A member that cannot read the hub: whether it is given partitions, and when it gives up its own.
//
//     reading ──half of unread_max without a word──▶ unread ──unread_max, and another member has
//        ▲                                                    read for half of that──▶ gives all up
//        └────────── rests: takes nothing for a while, longer each time ◀─────────────────┘
//
// No I/O; the caller passes the time. Threads: one.
#pragma once

#include <optional>

#include "base/clock.h"
#include "processor/balance/members.h"
#include "processor/ownership/timing.h"

namespace evenkeel::processor {

class Unread {
public:
    explicit Unread(const Timing& timing) : timing_(timing) {}

    // Since when this member has not heard from the hub; none: it reads. True if that changed
    // whether it reads.
    bool set(std::optional<Instant> since);
    const std::optional<Instant>& since() const { return since_; }
    // A listing of the members: can one of the others read?
    void observe(const Members& members, Instant now);

    // Gets nothing: it does not read, or rests after it gave partitions up.
    bool is_unable(Instant now) const { return since_.has_value() || now < rests_until_; }
    bool gives_all(Instant now) const;
    // A partition was handed over because of this.
    void on_given_up(Instant now);
    // When is_unable() or gives_all() may change by time alone; the largest Instant if never.
    Instant next_change(Instant now) const;

private:
    void check_state() const;

    const Timing& timing_;
    std::optional<Instant> since_;
    std::optional<Instant> readers_since_;  // since when we see a member that can read
    std::optional<Instant> given_up_;       // the since_ for which we last gave something up
    Instant rests_until_;                   // takes nothing before
    Duration rest_{0};
};

}  // namespace evenkeel::processor
