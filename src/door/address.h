// What a link is attached to: the addresses of Event Hubs, in all the spellings that clients use.
//
//   $cbs, $management, hub/$management
//   hub, hub/Partitions/3                         to send to
//   hub/ConsumerGroups/$Default/Partitions/3      to read from
// bare, with a leading slash, or as a URL of any scheme; names without regard to case; a hub's own
// name may contain slashes.
#pragma once

#include <string>
#include <string_view>

namespace evenkeel::door {

struct Address {
    enum class Kind { cbs, management, hub, partition, consumer };
    Kind kind = Kind::hub;
    std::string hub;  // of $management only if the address has it
    std::string group;
    std::string partition;  // as it was written
};

Address parse_address(std::string_view address);

// The path of a URL or address, percent-decoded, in lower case, without slashes at its ends: what
// tokens and links are compared by.
std::string path_of(std::string_view address);

}  // namespace evenkeel::door
