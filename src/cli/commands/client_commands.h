// Declares the commands that talk to a running hub; what they do is in the file of each.
#pragma once

#include <memory>

#include "cli/exit_code.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own name
class App;
}

namespace evenkeel::cli {

class ClientCommands {
public:
    ClientCommands();
    ~ClientCommands();
    ClientCommands(const ClientCommands&) = delete;
    ClientCommands& operator=(const ClientCommands&) = delete;

    // Outlives the app. `exit` is set when the app has parsed one of them, which runs it.
    void add_to(CLI::App& app, ExitCode& exit);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace evenkeel::cli
