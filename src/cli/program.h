// A program that consists of commands, such as evenkeel and evenkeel-bench: the list of its
// commands, and how the one that the arguments name is found and run.
//
// Each command declares its options itself: add_read() and its like add a command to the parser and
// set a callback that runs it. Only files named *_options.cc, and those that read the declared
// options, include CLI11: it costs more than three seconds a file.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/exit_code.h"
#include "cli/usage.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own name
class App;
}

namespace evenkeel::cli {

// What the arguments are parsed into: the options of all commands, and how the chosen one ended.
class Chosen {
public:
    ExitCode exit = ExitCode::done;

    // The options of one command, with their defaults. Valid as long as this object.
    template <typename Options>
    Options& keep() {
        kept_.emplace_back(new Options,
                           [](void* options) { delete static_cast<Options*>(options); });
        return *static_cast<Options*>(kept_.back().get());
    }

private:
    std::vector<std::unique_ptr<void, void (*)(void*)>> kept_;
};

// Adds one command, with its options, to the parser.
using AddCommand = void (*)(CLI::App& app, Chosen& chosen);

// Commands under one heading of the help.
struct CommandGroup {
    std::string title;
    std::vector<AddCommand> commands;
};

struct Program {
    std::string name;  // as users type it, such as "evenkeel"
    std::string description;
    std::string version = {};      // what --version prints; empty: there is no such option
    std::string first_steps = {};  // below the help of the bare program; empty: that is an error
    std::string examples;          // below the help
    std::vector<CommandGroup> groups;  // in the order of the help
    Synonyms synonyms = {};            // for those who know another tool
};

// Runs the command that the arguments name. Wrong usage is explained on stderr, with a hint.
// Allows as many open files as the system lets us: a hub of a thousand partitions has three files
// open for each.
ExitCode run(const Program& program, int count, char** arguments);

}  // namespace evenkeel::cli
