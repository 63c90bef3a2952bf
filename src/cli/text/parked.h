// Partitions that stand still until an operator resumes them, for operators: why, and what to do.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "processor/ownership/parked.h"

namespace boost::json {
class value;
}

namespace evenkeel::cli {

struct ParkedPlace {
    std::string event_hub;
    std::string group;
    std::string store;
};

// "evenkeel processor resume eh1 --group billing --store sqlite:a.db", for hints. The store is
// named unless EVENKEEL_STORE does, and as STORE if its address holds a password.
std::string group_command(std::string_view command, const ParkedPlace& place);

// A line for each: "partition 3: parked 2m ago: <reason>; 'evenkeel processor resume eh1 -p 3'
// resumes it".
std::string parked_lines(const std::map<PartitionId, processor::Parked>& parked,
                         const ParkedPlace& place, std::int64_t now_ms);

// null, or an object: why and since when.
boost::json::value parked_json(const std::map<PartitionId, processor::Parked>& parked,
                               PartitionId partition);

}  // namespace evenkeel::cli
