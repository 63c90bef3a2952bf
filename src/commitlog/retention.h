// Which segments retention removes: a pure decision over their ages and sizes.
//
// Retention goes by block: a segment goes when all its events are older than the retention time
// *and* it is sealed. So an event past its time can still be read until its segment is full.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>

#include "base/clock.h"

namespace evenkeel::commitlog {

// Time that passed between two runs of the hub, unobserved: events up to `until` age without it.
struct ClockGap {
    WallTime until;
    std::chrono::milliseconds lag{0};
    bool operator==(const ClockGap&) const = default;
};
// What does not count of the age of an event.
std::chrono::milliseconds lag_of(WallTime event, std::span<const ClockGap> gaps);

struct RetentionPolicy {
    std::optional<std::chrono::milliseconds> age_max;  // none: for ever
    std::optional<std::uint64_t> bytes_max;            // per partition; none: no limit
    std::span<const ClockGap> gaps = {};               // of the clock that gives `now`
};

struct SegmentAge {
    WallTime last_event;  // enqueued time of its newest event, or later
    std::uint64_t bytes = 0;
    bool sealed = true;
};

// How many segments, from the oldest on, are to go.
std::size_t segments_to_remove(std::span<const SegmentAge> segments, const RetentionPolicy& policy,
                               WallTime now);

// The wall clock as retention sees it: it moves no faster than the steady clock, so that a step of
// the wall clock ages nothing (LOG-19); a step back that is taken back leaves no trace.
class RetentionClock {
public:
    explicit RetentionClock(const Clock& clock)
        : clock_(clock), steady_(clock.now()), wall_(clock.wall()) {}
    WallTime now() const;
    // The same whatever the wall clock does: how late it is if the first look was right.
    WallTime expected() const;

private:
    const Clock& clock_;
    const Instant steady_;
    const WallTime wall_;
};

}  // namespace evenkeel::commitlog
