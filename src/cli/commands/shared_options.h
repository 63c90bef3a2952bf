// Options that several commands have, with one spelling and one help text.
#pragma once

#include <string>
#include <vector>

#include "cli/confirm.h"
#include "cli/program.h"
#include "cli/remote/remote.h"
#include "cli/text/listing.h"
#include "cli/watch.h"

namespace evenkeel::cli {

// --hub, --ca and --timeout: how to reach the hub.
void add_remote(CLI::App& command, RemoteOptions& options);
// The same and --url, for commands that use the admin interface.
void add_admin(CLI::App& command, RemoteOptions& options);

// --group and --store: whose progress, and where it is kept.
void add_store(CLI::App& command, std::string& group, std::string& store,
               const char* names = "--store");

// --dead-letter: the event hub that dead letters are in.
void add_letter_hub(CLI::App& command, std::string& letter_hub, const char* what);

// -o, one of `words`.
void add_output(CLI::App& command, std::string& output, const std::vector<std::string>& words);
Output output_of(const std::string& word);

// --watch and --watch=TIME.
void add_watch(CLI::App& command, Watch& watch);

// --yes and --dry-run.
void add_danger(CLI::App& command, Danger& danger);

// For check(): empty if `text` is a time such as 30s, else what is wrong with it.
std::string check_duration(const std::string& text);

}  // namespace evenkeel::cli
