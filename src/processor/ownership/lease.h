// Our right to act, as it depends on heartbeats: from a good one until Timing::lease after it
// was *sent*. An answer that comes late revives nothing (OWN-10).
//
//     begun ──renewed──▶ valid ──now >= until──▶ lapsed ──renewed──▶ valid, since now
//
// What was asked for before `since()` does not count under the lease: it may have been overtaken.
// No I/O; the caller passes the time. Threads: one, but for terms.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/clock.h"

namespace evenkeel::processor {

// The lease as it was when the term was taken, for whoever acts later: another thread, after it
// waited for its turn or the process stood still. Over once the lease has lapsed, also if it came
// back.
class LeaseTerm {
public:
    LeaseTerm() = default;  // never over

    // Any thread.
    bool is_over(Instant now) const;

private:
    friend class Lease;
    using End = std::atomic<std::int64_t>;
    explicit LeaseTerm(std::shared_ptr<const End> end) : end_(std::move(end)) {}

    std::shared_ptr<const End> end_;
};

class Lease {
public:
    explicit Lease(Duration length) : length_(length) {}

    enum class Change : unsigned char { none, gained, lapsed };

    // A heartbeat that was sent then has succeeded. After check() in the same step.
    Change renewed(Instant sent, Instant now);
    // Ends it if its time has come. Called first thing in every step, so that after a pause nothing
    // is done under a lease that is over.
    Change check(Instant now);
    // Ends it at once.
    Change end();

    bool is_valid(Instant now) const;
    // True if what was asked for at `asked` was covered without a break until now.
    bool covers(Instant asked, Instant now) const { return is_valid(now) && asked >= since_; }
    Instant until() const { return until_; }
    Instant since() const { return since_; }
    // Of a valid lease.
    LeaseTerm term() const { return LeaseTerm(term_end_); }

private:
    Duration length_;
    bool valid_ = false;
    Instant until_;
    Instant since_;
    std::shared_ptr<LeaseTerm::End> term_end_;  // until_, for the terms; a new one after each lapse
};

}  // namespace evenkeel::processor
