// `evenkeel dev`: a hub for work on this machine, with the emulator's connection string.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/exit_code.h"

namespace evenkeel::cli {

struct DevOptions {
    std::string data = ".evenkeel";
    std::string address = "127.0.0.1";
    std::uint16_t port = 5672;
    std::vector<std::string> event_hubs;  // name or name:partitions; eh1:2 if none is given
    std::string ready_file;               // the real ports, as JSON, once it is ready
    bool ephemeral = false;               // data in a temporary folder that goes at the end
    bool accept_any_token = false;
};

ExitCode dev(const DevOptions& options);

}  // namespace evenkeel::cli
