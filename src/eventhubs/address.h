// Addresses of links, in all the spellings that clients use. Pure.
//
//   $cbs, $management, hub/$management, hub/ConsumerGroups/$Default/$management
//   hub, hub/Partitions/3                         to send to
//   hub/ConsumerGroups/$Default/Partitions/3      to read from
// bare, with a leading slash, or as a URL of any scheme; names without regard to case; a hub's own
// name may contain slashes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace evenkeel::eventhubs {

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

// The host of "host", "host:port" or "[::1]:port", in lower case, without a dot at its end.
std::string host_name_of(std::string_view authority);

// The path of a token's resource, as path_of() gives it; none if the resource is on another host
// than `host`. It begins with a host, with or without a scheme: "sb://host/hub", "host/hub",
// "host". Ports are not compared: clients write them into one, both or neither.
std::optional<std::string> path_on(std::string_view host, std::string_view resource);

}  // namespace evenkeel::eventhubs
