// Whether the consumer group that a command names exists, before it begins.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/exit_code.h"
#include "cli/remote/remote.h"

namespace evenkeel::cli {

// False if the event hub has no such group. Looks by opening a reader that displaces nobody; a hub
// that refuses it for another reason has the group, or says so to the command itself.
bool has_group(const Remote& remote, const std::string& event_hub, const std::string& group);

// Says on stderr what is missing and how to make it. `what` is what cannot be done without it.
ExitCode fail_no_group(std::string_view what, const Remote& remote, const std::string& event_hub,
                       const std::string& group, std::string_view option = {});

// For commands with --create-group, which `may_create` is. None: the group exists, or was created;
// the latter needs a key with the Manage right. Else the command ends with that exit code.
std::optional<ExitCode> require_group(std::string_view what, const Remote& remote,
                                      const std::string& event_hub, const std::string& group,
                                      bool may_create);

}  // namespace evenkeel::cli
