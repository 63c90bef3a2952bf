// `evenkeel host init`: a small app to start from.
#pragma once

#include <string>

#include "cli/exit_code.h"

namespace evenkeel::cli {

struct HostInitOptions {
    std::string kind;  // python, node, cpp or exec
    std::string folder;
};

// Writes the files into a new folder. An existing one is not touched.
ExitCode host_init(const HostInitOptions& options);

}  // namespace evenkeel::cli
