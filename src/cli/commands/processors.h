// `evenkeel processor`: the instances of a group, what became of its partitions, and what operators
// ask of them: to drain one, to pause and to resume. All through the checkpoint store, where the
// instances meet; none of them is talked to.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/exit_code.h"
#include "cli/remote/remote.h"

namespace evenkeel::cli {

struct ProcessorsOptions {
    RemoteOptions remote;
    std::string event_hub;
    std::string group = "$Default";
    std::string store = "sqlite:evenkeel-progress.db";
    std::string hub_namespace;              // empty: the host in the connection string
    std::vector<std::uint32_t> partitions;  // empty: all
    std::string id;                         // drain: whom
    std::string last;                       // history: how far back
    std::string wait = "60s";               // drain: how long to wait for it
    bool json = false;
};

ExitCode processor_ls(const ProcessorsOptions& options);
ExitCode processor_history(const ProcessorsOptions& options);
ExitCode processor_drain(const ProcessorsOptions& options);
ExitCode processor_pause(const ProcessorsOptions& options);
ExitCode processor_resume(const ProcessorsOptions& options);

}  // namespace evenkeel::cli
