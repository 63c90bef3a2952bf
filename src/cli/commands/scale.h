// `evenkeel scale`: how many instances a group should have now, and why; for orchestrators that
// have no scale controller of their own.
#pragma once

#include <string>

#include "cli/exit_code.h"
#include "cli/remote/remote.h"
#include "host/scale/decide.h"

namespace evenkeel::cli {

struct ScaleOptions {
    RemoteOptions remote;
    std::string event_hub;
    std::string group = "$Default";
    std::string store = "sqlite:evenkeel-progress.db";
    // It is asked once: the caller keeps the count steady.
    host::ScalePolicy policy = host::ScalePolicy::without_memory();
    bool from_start = false;
    std::string output = "text";  // or json, count
};

// A hub or store that cannot be read means hold, which is printed, and an exit code that is not 0.
ExitCode scale(const ScaleOptions& options);

}  // namespace evenkeel::cli
