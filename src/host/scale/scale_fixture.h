// What several tests of the scale controller use.
#pragma once

#include "base/clock.h"
#include "host/scale/group_load.h"

namespace evenkeel::host {

inline Instant at_second(std::int64_t second) {
    return Instant{} + std::chrono::seconds(second);
}

// One partition of which `handled` of `stored` events are handled.
inline GroupLoad one_partition(std::int64_t stored, std::int64_t handled) {
    return {{{.unread = stored - handled, .position = handled - 1, .last = stored - 1}}};
}

// `unread` events in all, in partitions of which each was read before.
inline GroupLoad spread_load(std::uint32_t partitions, std::int64_t unread) {
    GroupLoad load;
    for (std::uint32_t p = 0; p < partitions; ++p) {
        const std::int64_t first = unread / partitions;
        const std::int64_t share = first + (p < unread % partitions ? 1 : 0);
        load.partitions.push_back({.unread = share, .position = 9, .last = 9 + share});
    }
    return load;
}

}  // namespace evenkeel::host
