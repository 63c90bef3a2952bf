// How much is taken in each second: events and bytes, each with a bucket that holds one
// second's worth. A batch is taken whole while both buckets have anything left, and what it is over
// is owed: so a batch larger than a bucket passes, and the rate holds over time.
#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"

namespace evenkeel::door {

struct ThrottleOptions {
    std::uint64_t events_per_second = 0;  // 0: no limit
    std::uint64_t bytes_per_second = 0;   // 0: no limit
    bool operator==(const ThrottleOptions&) const = default;
};

class Throttle {
public:
    Throttle(const ThrottleOptions& options, Instant now);

    enum class Bucket : std::uint8_t { events, bytes };
    // The one that has nothing left; none if a batch may be taken.
    std::optional<Bucket> empty_bucket(Instant now);
    // Takes it, after empty_bucket() was asked.
    void charge(std::uint64_t events, std::uint64_t bytes);
    // Both: false, and nothing is taken, if one of the buckets is empty.
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
