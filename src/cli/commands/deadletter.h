// `evenkeel deadletter`: the events that a group could not handle. Lists and shows them, sends them
// again, removes and exports them; from the checkpoint store or from a dead-letter hub.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/confirm.h"
#include "cli/exit_code.h"
#include "cli/remote/remote.h"

namespace evenkeel::cli {

struct DeadLetterOptions {
    RemoteOptions remote;
    std::string event_hub;
    std::string group = "$Default";
    std::string store = "sqlite:evenkeel-progress.db";
    std::string hub_namespace;              // empty: the host in the connection string
    std::string letter_hub = "store";       // as of `process --dead-letter`
    std::vector<std::string> ids;           // PARTITION/SEQUENCE
    std::vector<std::uint32_t> partitions;  // empty: all
    std::string cause;                      // only those whose cause contains it
    bool all = false;                       // replay, rm: no other choice is needed
    std::string to;                         // replay: the event hub; empty: its own
    Danger danger;
    std::string output = "table";
};

ExitCode deadletter_ls(const DeadLetterOptions& options);
ExitCode deadletter_show(const DeadLetterOptions& options);
ExitCode deadletter_export(const DeadLetterOptions& options);
ExitCode deadletter_rm(const DeadLetterOptions& options);
// Each is removed once the hub has acknowledged it: one that ends in between is sent again by the
// next replay, and none is lost.
ExitCode deadletter_replay(const DeadLetterOptions& options);

}  // namespace evenkeel::cli
