// The official emulator's Config.json, taken as it is: which event hubs there are, with how many
// partitions and which consumer groups.
//
// Its rules are kept, so that a file that works here works there: one namespace of type EventHub, 1
// to 10 event hubs, 1 to 32 partitions each, 1 to 20 consumer groups each without $default, which
// is always there. An error names the place:
// "UserConfig.NamespaceConfig[0].Entities[2].PartitionCount".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace evenkeel::server {

struct EmulatorHub {
    std::string name;
    std::uint32_t partitions = 1;
    std::vector<std::string> groups;
    bool operator==(const EmulatorHub&) const = default;
};

// invalid_argument names the place and says what belongs there.
Result<std::vector<EmulatorHub>> parse_emulator_config(std::string_view text);

}  // namespace evenkeel::server
