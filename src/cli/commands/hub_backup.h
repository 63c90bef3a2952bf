// `evenkeel hub backup`, `restore` and `copy`: an event hub to a file, from a file, to another hub.
#pragma once

#include <string>

#include "cli/exit_code.h"
#include "cli/remote/remote.h"

namespace evenkeel::cli {

struct HubBackup {
    RemoteOptions remote;
    std::string event_hub;  // restore: empty: the name in the file
    std::string file;
    bool force = false;    // backup: replace the file
    bool resume = false;   // restore, copy: go on behind what is there
    bool dry_run = false;  // restore: only check the file
    RemoteOptions to;      // copy: empty: the same server
    std::string to_hub;
    bool quiet = false;
};

ExitCode hub_backup(const HubBackup& options);
ExitCode hub_restore(const HubBackup& options);
ExitCode hub_copy(const HubBackup& options);

}  // namespace evenkeel::cli
