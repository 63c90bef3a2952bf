// `evenkeel host status`: what the scale controller of a running host knows, and why it decides so.
#pragma once

#include <string>

#include "cli/exit_code.h"

namespace evenkeel::cli {

struct HostStatusOptions {
    std::string folder;
    std::string file;             // empty: where the host of the app writes it
    std::string output = "text";  // or json
};

// `not_found` if no host of the app runs on this machine.
ExitCode host_status(const HostStatusOptions& options);

}  // namespace evenkeel::cli
