// One life of a group of whole processors by chance: they join, crash, come back, leave and stop
// for a while; the store goes away, for all or for one, and loses answers; the hub restarts and
// cuts links; clocks differ and step; handlers are slow, fail, are stuck. Quiet at the end.
#pragma once

#include <cstdint>
#include <string>

namespace evenkeel::sim {

// What goes wrong besides all that: nothing; the clock of the store's host is set again and again;
// processors hear nothing from the hub, one or all of them, while they reach the store.
enum class Trouble : std::uint8_t { usual, store_clock, hub_path };

struct ProcessorScheduleResult {
    std::string violations;  // "" if all is well
    std::string story;       // what was done, with times
    std::uint64_t trace_hash = 0;
    std::uint64_t steps = 0, moves = 0;
    std::uint64_t calls = 0, events = 0, repeats = 0, failures = 0, letters = 0;
};

ProcessorScheduleResult run_processor_schedule(std::uint64_t seed,
                                               Trouble trouble = Trouble::usual);

}  // namespace evenkeel::sim
