// Completion in shells: a small script for each, which asks `evenkeel __complete` what may follow
// the words that were typed.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/exit_code.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own name
class App;
}

namespace evenkeel::cli {

// bash, zsh or fish.
ExitCode print_completion(std::string_view shell);

// What may stand in the place of the last of `words`, which may be empty; without the program's
// name. Names of event hubs, groups and keys are asked of the hub, briefly.
struct Candidate {
    std::string text;
    std::string what = {};
};
std::vector<Candidate> candidates(const CLI::App& app, const std::vector<std::string>& words);

// One a line, with what it is behind a tab.
ExitCode print_candidates(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace evenkeel::cli
