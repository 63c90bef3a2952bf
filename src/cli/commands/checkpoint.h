// `evenkeel checkpoint`: looks at the progress of a consumer group, and sets it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/exit_code.h"
#include "cli/remote/remote.h"

namespace evenkeel::cli {

struct CheckpointOptions {
    RemoteOptions remote;
    std::string event_hub;
    std::string store = "sqlite:evenkeel-progress.db";
    std::string group = "$Default";
    std::string hub_namespace;              // empty: the host in the connection string
    std::vector<std::uint32_t> partitions;  // empty: all that have a checkpoint or an owner
    std::string to;                         // set: as --from of `evenkeel read`
    std::int64_t by = 0;                    // rewind: so many events back
    std::string file;                       // import: of export
    std::string from;                       // import: where another program keeps checkpoints
    std::string layout = "auto";            // import: how that lies there
    std::string path;                       // import: what its names begin with
    std::string to_store;                   // copy: empty means the same one
    std::string to_group;                   // copy: empty means the same one
    bool is_dry_run = false;
    bool is_forced = false;
    std::string output = "table";  // or json
};

ExitCode checkpoint_ls(const CheckpointOptions& options);
ExitCode checkpoint_set(const CheckpointOptions& options);
ExitCode checkpoint_rewind(const CheckpointOptions& options);
ExitCode checkpoint_export(const CheckpointOptions& options);
ExitCode checkpoint_import(const CheckpointOptions& options);
ExitCode checkpoint_copy(const CheckpointOptions& options);
// The next hub of that name that a processor reads takes the group's entries over.
ExitCode checkpoint_adopt(const CheckpointOptions& options);

}  // namespace evenkeel::cli
