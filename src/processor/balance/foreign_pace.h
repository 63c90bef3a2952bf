// How often processors of other SDKs renew their entries, as seen from outside. Nobody tells us
// after what time they take an owner for dead; but it is at least twice their interval, and with
// their defaults four to six times. So whoever renews at their pace lives in their eyes, and
// whoever of them is silent for so long is dead in the eyes of its own kind.
//
//     listings ──observe()──▶ the interval of each owner ──▶ renewal() of ours, expiry() of theirs
//
// No I/O; the caller passes the time. Threads: any.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/clock.h"
#include "processor/ownership/timing.h"

namespace evenkeel::processor {

class ForeignPace {
public:
    // So many renewals that were seen tell an owner's interval.
    static constexpr std::uint32_t renewals_min = 3;

    // The foreign owners of a listing, dead ones too, with the age of the youngest entry of each.
    // Those that are not in it are forgotten.
    void observe(const std::map<std::string, Duration>& youngest, Instant now);
    // So often our entries are renewed: at twice the interval of the quickest of them, within the
    // bounds of the timing; at the lower bound as long as one of them is new to us.
    Duration renewal(const Timing& timing) const;
    // After this age of its entries an owner is dead: six intervals, at most foreign_expiry.
    Duration expiry(const std::string& owner, const Timing& timing) const;

private:
    struct Owner {
        Duration age{0};  // of its youngest entry, when it was seen last
        Instant seen;
        Duration interval{0};  // the highest age after which it was seen to renew
        std::uint32_t renewals = 0;
    };
    std::map<std::string, Owner> owners_;
};

}  // namespace evenkeel::processor
