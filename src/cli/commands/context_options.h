// --context, which every command that takes a hub has.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own name
class App;
}

namespace evenkeel::cli {

// Adds --context to the program, and to each of its commands that takes a connection string. After
// all commands were added.
void add_context_option(CLI::App& app);

// Applies the context that counts for the command that `words` name; nothing for one that takes
// no hub, nor for its help.
Result<> use_context(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace evenkeel::cli
