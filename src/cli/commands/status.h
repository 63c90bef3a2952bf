// `evenkeel status`: who owns which partition of an event hub, how far each was handled, and how
// far that is behind; from the checkpoint store and the hub.
#pragma once

#include <string>

#include "cli/exit_code.h"
#include "cli/remote/remote.h"

namespace evenkeel::cli {

struct StatusOptions {
    RemoteOptions remote;
    std::string event_hub;
    std::string group = "$Default";
    std::string store = "sqlite:evenkeel-progress.db";
    std::string letter_hub = "store";  // dead letters are counted there too: as of LetterBoxOptions
    bool json = false;
};

ExitCode status(const StatusOptions& options);

}  // namespace evenkeel::cli
