// `evenkeel group`: consumer groups of an event hub, through the admin interface.
#pragma once

#include <string>

#include "cli/confirm.h"
#include "cli/exit_code.h"
#include "cli/remote/remote.h"
#include "cli/text/listing.h"

namespace evenkeel::cli {

struct GroupCommand {
    RemoteOptions remote;
    Output output = Output::table;
    std::string event_hub;
    std::string name;
    bool if_not_exists = false;
    Danger danger;
};

ExitCode group_ls(const GroupCommand& options);
ExitCode group_create(const GroupCommand& options);
ExitCode group_rm(const GroupCommand& options);

}  // namespace evenkeel::cli
