// How many events a second each partition handles, smoothed over half a minute, so that a burst
// does not look like a load. For balancing by load (CoordinatorOptions::load). No clock; told the
// time.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>

#include "base/clock.h"
#include "base/ids.h"

namespace evenkeel::processor {

class LoadMeter {
public:
    static constexpr Duration window = std::chrono::seconds(30);

    // `handled` counts from when the partition was opened. Called again and again, every second or
    // so; the first time it is 0.
    double load(PartitionId partition, std::uint64_t handled, Instant now);
    void forget(PartitionId partition) { known_.erase(partition); }

private:
    struct Known {
        std::uint64_t handled = 0;
        Instant at;
        double load = 0;
    };
    std::map<PartitionId, Known> known_;
};

}  // namespace evenkeel::processor
