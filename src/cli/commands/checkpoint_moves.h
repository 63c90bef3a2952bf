// What the commands of `evenkeel checkpoint` share: a group's entries in a store, and moves of its
// positions: planned, printed and carried out.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/store.h"
#include "cli/commands/checkpoint.h"
#include "cli/remote/entries.h"
#include "cli/remote/store_session.h"

namespace evenkeel::cli {

// What a group's store says of one partition.
struct CheckpointRow {
    std::optional<checkpoint::Checkpoint> checkpoint;
    std::optional<checkpoint::Ownership> ownership;
    bool is_owned = false;  // by a running processor
};
using CheckpointRows = std::map<std::uint32_t, CheckpointRow>;

struct OpenedGroup {
    std::unique_ptr<StoreSession> store;  // none: the group is not there, and was not made
    CheckpointRows rows;
};

Result<checkpoint::GroupName> group_of(const CheckpointOptions& options, EntriesFor purpose);
Result<OpenedGroup> open_group(const std::string& url, const checkpoint::GroupName& group,
                               const checkpoint::OpenOptions& options);
// The one in --store; `not_found` if it names a file that is not there. Neither a dry run nor a
// command that only looks, or changes only what is there, makes it.
Result<OpenedGroup> open_group(const CheckpointOptions& options, EntriesUse use);

struct CheckpointMove {
    checkpoint::Checkpoint wanted;
    const CheckpointRow* row;
    std::string stays = {};  // why it is not moved; empty: it is
};

// Tells every move, and carries it out unless it is a dry run, which ends with `would_change` if
// there is one. `conflict`, and nothing is changed,
// if a live processor owns one of the partitions, unless forced.
ExitCode apply(const OpenedGroup& opened, const std::vector<CheckpointMove>& moves,
               const CheckpointOptions& options);

bool is_json(const CheckpointOptions& options);
bool is_wanted(const CheckpointOptions& options, std::uint32_t partition);

}  // namespace evenkeel::cli
