// Which of our ownership records are written again though nothing changed. For ourselves hardly
// ever; but processors of other SDKs go by their age. No I/O; the caller passes the time.
// Threads: one.
#pragma once

#include <functional>
#include <string>

#include "base/clock.h"
#include "processor/balance/balancer.h"
#include "processor/balance/foreign_pace.h"
#include "processor/balance/holdings.h"
#include "processor/ownership/ownerships.h"
#include "processor/ownership/timing.h"

namespace evenkeel::processor {

class Renewals {
public:
    explicit Renewals(const Timing& timing) : timing_(timing) {}

    // The owners of other SDKs, and the age of the youngest record of each.
    void observe(const std::map<std::string, Duration>& youngest, Instant now) {
        pace_.observe(youngest, now);
    }
    // After which age a record of this owner counts as abandoned.
    Duration expiry(const std::string& owner) const { return pace_.expiry(owner, timing_); }
    // Whether processors of other SDKs are in the group. True if they were not before.
    bool set_foreign(const View& view);
    bool has_foreign() const { return has_foreign_; }

    // How often the group is looked at while nothing is expected.
    Duration look_period() const;
    // The record is as old as it may get before the next look.
    bool is_due(const Holding& holding, const Holdings& holdings, Instant now) const;

private:
    Duration period() const;

    const Timing& timing_;
    ForeignPace pace_;
    bool has_foreign_ = false;
};

}  // namespace evenkeel::processor
