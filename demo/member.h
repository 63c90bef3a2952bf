// One event processor of the demo, as a process of its own: reports what it handles as Report.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/exit_code.h"

namespace evenkeel::demo {

struct MemberOptions {
    std::string event_hub;
    std::string group = "$Default";
    std::string store;
    std::string id;
    std::string profile = "standard";  // or "fast"
    std::uint64_t checkpoint_events = 1000;
    std::size_t batch_events_max = 256;
    std::uint64_t run = 0;  // events of other runs are reported as foreign
    std::uint32_t producers = 0;
    std::vector<std::string> start_of;  // "PARTITION:SEQUENCE": begin after that event
};

// The process: the first line of its stdin is the connection string, which holds a key. It stops
// when stdin ends.
cli::ExitCode run_member(const MemberOptions& options);

}  // namespace evenkeel::demo
