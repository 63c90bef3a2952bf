// Whether the consumer group that a command names exists, before it begins.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/exit_code.h"
#include "cli/remote/remote.h"

namespace evenkeel::cli {

// False if the event hub has no such group. Looks by opening a reader that displaces nobody; a hub
// that refuses it for another reason has the group, or says so to the command itself.
bool has_group(const Remote& remote, const std::string& event_hub, const std::string& group);

// Says on stderr what is missing and how to make it. `what` is what cannot be done without it.
ExitCode fail_no_group(std::string_view what, const Remote& remote, const std::string& event_hub,
                       const std::string& group, std::string_view option = {},
                       std::string_view insist = {});

// What entries of a store are about to be stored for.
struct GroupTarget {
    std::string event_hub;
    std::string group;
    std::vector<std::uint32_t> partitions = {};  // empty: all
};
struct AskedHub {
    std::optional<ExitCode> ended;   // something is missing, and was reported
    std::unique_ptr<Client> client;  // none: the hub does not answer, so nobody knows
    EventHubProperties properties = {};
};
// Asks the hub whether event hub, group and partitions exist. `what` cannot be done without them;
// `insist` is a hint for those who store the entries all the same.
AskedHub ask_hub(std::string_view what, const Remote& remote, const GroupTarget& target,
                 std::string_view insist = {});

// For commands with --create-group, which `may_create` is. None: the group exists, or was created;
// the latter needs a key with the Manage right. Else the command ends with that exit code.
std::optional<ExitCode> require_group(std::string_view what, const Remote& remote,
                                      const std::string& event_hub, const std::string& group,
                                      bool may_create);

}  // namespace evenkeel::cli
