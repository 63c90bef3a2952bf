#include "commitlog/retention.h"

#include <algorithm>

namespace evenkeel::commitlog {

std::size_t segments_to_remove(std::span<const SegmentAge> segments, const RetentionPolicy& policy,
                               WallTime now) {
    std::uint64_t bytes = 0;
    for (const auto& segment : segments) bytes += segment.bytes;
    std::size_t count = 0;
    for (const auto& segment : segments) {
        const bool expired = policy.age_max && now - segment.last_event > *policy.age_max;
        const bool too_much = policy.bytes_max && bytes > *policy.bytes_max;
        if (!segment.sealed || !(expired || too_much)) break;
        bytes -= segment.bytes;
        ++count;
    }
    return count;
}

WallTime RetentionClock::now() const {
    const auto elapsed =
        std::chrono::duration_cast<std::chrono::milliseconds>(clock_.now() - steady_);
    return std::min(clock_.wall(), wall_ + elapsed);
}

}  // namespace evenkeel::commitlog
