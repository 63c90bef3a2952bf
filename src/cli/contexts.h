// Contexts: named sets of a hub, its admin interface, its certificates and a checkpoint store, in
// one file of the user: $XDG_CONFIG_HOME/evenkeel/contexts.toml, or in ~/.config.
//
//     current = "prod"
//
//     [[context]]
//     name = "prod"
//     hub = "Endpoint=sb://..."
//
// The file holds secrets: it has mode 0600, and is repaired, with a message, if others could read
// it. It is replaced as a whole and synced, under a lock, so that neither a crash nor a second
// process that changes it loses an entry. A file that cannot be understood is never replaced.
//
// A context is used as a whole: what it has takes the place of the variables EVENKEEL_HUB,
// EVENKEEL_URL, EVENKEEL_CA and EVENKEEL_STORE, which all commands read.
// Threads: the one that runs main().
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace evenkeel::cli {

// Empty: not set. `hub` and `store` may hold secrets.
struct Context {
    std::string hub;
    std::string store;
    std::string url;
    std::string ca;
};

struct Contexts {
    std::string current;  // empty: none
    std::map<std::string, Context> all;
};

// Where the file is; empty if neither XDG_CONFIG_HOME nor HOME says.
std::string contexts_path();

// Empty if there is no file. `corrupt` names file and line of what is wrong in it;
// `not_allowed` if it belongs to another user, or others can read it and that cannot be changed.
Result<Contexts> read_contexts();
// Reads, changes and replaces it; waits for others that do the same.
Result<> change_contexts(const std::function<Result<>(Contexts&)>& change);

// As in the file; for tests.
Result<Contexts> parse_contexts(std::string_view text, const std::string& file);
std::string to_toml(const Contexts& contexts);

// Letters, digits, '.', '_' and '-', at most 64, and a letter or digit first.
bool is_context_name(std::string_view name);

// Which context counts, and why.
struct ChosenContext {
    std::string name;    // empty: none
    std::string origin;  // "--context", "EVENKEEL_CONTEXT" or "context use"
};
// `named` by --context. None if the hub is named otherwise: `has_hub`, or by a variable.
Result<ChosenContext> choose_context(const std::string& named, bool has_hub);
// Sets the variables for the rest of this process. `not_found` if there is no such context.
Result<> apply_context(const ChosenContext& chosen);

}  // namespace evenkeel::cli
