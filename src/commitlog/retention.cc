#include "commitlog/retention.h"

#include <algorithm>

namespace evenkeel::commitlog {

std::size_t segments_to_remove(std::span<const SegmentAge> segments, const RetentionPolicy& policy,
                               WallTime now) {
    const auto age = [&](const SegmentAge& segment) {
        return now - segment.last_event - lag_of(segment.last_event, policy.gaps);
    };
    std::uint64_t bytes = 0;
    for (const auto& segment : segments) bytes += segment.bytes;
    std::size_t count = 0;
    for (const auto& segment : segments) {
        const bool expired = policy.age_max && age(segment) > *policy.age_max;
        const bool too_much = policy.bytes_max && bytes > *policy.bytes_max;
        if (!segment.sealed || !(expired || too_much)) break;
        bytes -= segment.bytes;
        ++count;
    }
    return count;
}

std::chrono::milliseconds lag_of(WallTime event, std::span<const ClockGap> gaps) {
    std::chrono::milliseconds lag{0};
    for (const auto& gap : gaps) {
        if (event <= gap.until) lag += gap.lag;
    }
    return lag;
}

WallTime RetentionClock::now() const {
    return std::min(clock_.wall(), expected());
}

WallTime RetentionClock::expected() const {
    return wall_ + std::chrono::duration_cast<std::chrono::milliseconds>(clock_.now() - steady_);
}

}  // namespace evenkeel::commitlog
