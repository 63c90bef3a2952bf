// One life of a group by chance: members that join, crash, come back, leave and stop for a while, a
// store that goes away and loses answers, clocks that differ. Quiet at the end.
#pragma once

#include <cstdint>
#include <string>

namespace evenkeel::sim {

struct ScheduleResult {
    std::string violations;  // "" if all is well
    std::string story;       // what was done, with times
    std::uint64_t trace_hash = 0;
    std::uint64_t steps = 0;
    std::uint64_t moves = 0;
    std::uint64_t unread_ms = 0;
};

ScheduleResult run_random_schedule(std::uint64_t seed);

}  // namespace evenkeel::sim
