// The loads of the partitions that we hold: smoothed, and when they are worth publishing.
//
//     measured ──jump: believed at once; else smoothed over two minutes──▶ of() ──▶ is_due()
//
// No I/O; the caller passes the time. Threads: one.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "checkpoint/store.h"
#include "processor/balance/holdings.h"
#include "processor/ownership/ownerships.h"
#include "processor/ownership/timing.h"

namespace evenkeel::processor {

class SmoothedLoads {
public:
    explicit SmoothedLoads(const Timing& timing) : timing_(timing) {}

    // Measures what is held; every Timing::poll_fast. True if one is due.
    bool measure(const Holdings& holdings, const std::function<double(PartitionId)>& load,
                 Instant now);
    // The load differs enough from the published one, which is old enough.
    bool is_due(const Holding& holding, Instant now) const;
    // None if it was not measured yet.
    std::optional<double> of(PartitionId partition) const;
    // One of the `listed` loads is far from what was known before: the others will follow.
    static bool has_jumped(const std::vector<checkpoint::Ownership>& listed,
                           const Ownerships& known);

private:
    const Timing& timing_;
    std::map<PartitionId, double> loads_;
};

}  // namespace evenkeel::processor
