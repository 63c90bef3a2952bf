// `evenkeel context`: named hubs and stores, so that their connection strings need not be typed.
// Secrets are kept in the file (cli/contexts.h) and never shown.
#pragma once

#include <string>

#include "cli/confirm.h"
#include "cli/contexts.h"
#include "cli/exit_code.h"
#include "cli/text/listing.h"

namespace evenkeel::cli {

struct ContextCommand {
    std::string name;
    Context context;
    Output output = Output::table;
    Danger danger;
    bool use = false;      // add: and use it from now on
    bool replace = false;  // add: one of this name that is there
    bool none = false;     // use: none, which is the hub of 'evenkeel dev'
};

ExitCode context_add(const ContextCommand& options);
ExitCode context_use(const ContextCommand& options);
ExitCode context_ls(const ContextCommand& options);
ExitCode context_show(const ContextCommand& options);
ExitCode context_rm(const ContextCommand& options);

}  // namespace evenkeel::cli
