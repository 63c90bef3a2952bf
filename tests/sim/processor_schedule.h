// One life of a group of whole processors by chance: they join, crash, come back, leave and stop
// for a while; the store goes away, for all or for one, and loses answers; the hub restarts and
// cuts links; clocks differ and step; handlers are slow, fail, are stuck. Quiet at the end.
#pragma once

#include <cstdint>
#include <string>

namespace evenkeel::sim {

struct ProcessorScheduleResult {
    std::string violations;  // "" if all is well
    std::string story;       // what was done, with times
    std::uint64_t trace_hash = 0;
    std::uint64_t steps = 0, moves = 0;
    std::uint64_t calls = 0, events = 0, repeats = 0, failures = 0, letters = 0;
};

ProcessorScheduleResult run_processor_schedule(std::uint64_t seed);

}  // namespace evenkeel::sim
