// How much a namespace takes in each second: events and bytes, each with a bucket that holds one
// second's worth. A batch is taken whole while both buckets have anything left, and what it is over
// is owed: so a batch larger than a bucket passes, and the rate holds over time.
#pragma once

#include <cstdint>

#include "base/clock.h"

namespace evenkeel::door {

struct ThrottleOptions {
    std::uint64_t events_per_second = 0;  // 0: no limit
    std::uint64_t bytes_per_second = 0;   // 0: no limit
};

class Throttle {
public:
    Throttle(const ThrottleOptions& options, Instant now);

    // False, and nothing is taken, if one of the buckets is empty.
    bool take(std::uint64_t events, std::uint64_t bytes, Instant now);
    // Other limits from now on, with full buckets.
    void change(const ThrottleOptions& options, Instant now);

private:
    void refill(Instant now);

    ThrottleOptions options_;
    Instant filled_;
    double events_;
    double bytes_;
};

}  // namespace evenkeel::door
