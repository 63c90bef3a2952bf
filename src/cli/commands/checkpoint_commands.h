// Declares `evenkeel checkpoint` and its subcommands; what they do is in checkpoint.cc.
#pragma once

#include <memory>

#include "cli/exit_code.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own name
class App;
}

namespace evenkeel::cli {

struct CheckpointOptions;

class CheckpointCommands {
public:
    CheckpointCommands();
    ~CheckpointCommands();
    CheckpointCommands(const CheckpointCommands&) = delete;
    CheckpointCommands& operator=(const CheckpointCommands&) = delete;

    // Outlives the app. `exit` is set when the app has parsed one of them, which runs it.
    void add_to(CLI::App& app, ExitCode& exit);

private:
    CLI::App* add(CLI::App& parent, ExitCode& exit, const char* name, const char* what,
                  ExitCode (*run)(const CheckpointOptions&));

    std::unique_ptr<CheckpointOptions> options_;
};

}  // namespace evenkeel::cli
