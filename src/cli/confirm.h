// The question before something that cannot be undone.
#pragma once

#include <optional>
#include <string_view>

#include "cli/exit_code.h"

namespace evenkeel::cli {

struct Danger {
    bool yes = false;      // do not ask
    bool dry_run = false;  // only say what would happen
};

// Says `what` would be lost, and asks on the terminal. Nothing: go on. Otherwise how the command
// ends now: the answer was no, standard input is not a terminal to ask on, or it is a dry
// run, which ends with an exit code of its own.
std::optional<ExitCode> ask_first(const Danger& danger, std::string_view what);

}  // namespace evenkeel::cli
