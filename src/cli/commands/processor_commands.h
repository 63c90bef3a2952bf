// Declares the commands around event processors; the work is in the file of each command.
#pragma once

#include "cli/exit_code.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own name
class App;
}

namespace evenkeel::cli {

// `exit` is set by the command that runs.
void add_processor_commands(CLI::App& app, ExitCode& exit);

}  // namespace evenkeel::cli
