// `evenkeel top`: the processors of a group live in a terminal, as the dashboard's page shows them:
// owners, how far each partition is behind, rates, the last moves. From the checkpoint store and
// the hub, as `evenkeel status`; it changes nothing.
#pragma once

#include <string>

#include "cli/exit_code.h"
#include "cli/remote/remote.h"

namespace evenkeel::cli {

struct TopOptions {
    RemoteOptions remote;
    std::string event_hub;
    std::string group = "$Default";
    std::string store = "sqlite:evenkeel-progress.db";
    std::string interval = "1s";
};

// Until q or Ctrl-C; once where stdout is no terminal.
ExitCode top(const TopOptions& options);

}  // namespace evenkeel::cli
