// `evenkeel hub`: event hubs of a running hub, through its admin interface.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/confirm.h"
#include "cli/exit_code.h"
#include "cli/remote/admin_client.h"
#include "cli/remote/remote.h"
#include "cli/text/listing.h"
#include <evenkeel/hub.h>

namespace evenkeel::cli {

struct HubCommand {
    RemoteOptions remote;
    Output output = Output::table;
    std::string name;
    std::optional<std::uint32_t> partitions;
    std::string retention;            // empty: not given
    std::string partition_bytes_max;  // empty: not given
    std::vector<std::string> groups;  // to be made with it
    bool if_not_exists = false;
    std::optional<std::uint32_t> partition;  // to purge; all without it
    std::optional<std::int64_t> before;      // purge up to this sequence number, which stays
    Danger danger;
};

ExitCode hub_ls(const HubCommand& options);
ExitCode hub_create(const HubCommand& options);
ExitCode hub_show(const HubCommand& options);
ExitCode hub_alter(const HubCommand& options);
ExitCode hub_purge(const HubCommand& options);
ExitCode hub_rm(const HubCommand& options);

// What the partitions hold together.
struct Totals {
    std::uint64_t events = 0;
    std::uint64_t bytes = 0;
    double in_per_second = 0;
    double out_per_second = 0;
    std::int64_t oldest_ms = 0;  // 0: there is none, or it is not known
    std::int64_t last_ms = 0;
    std::uint32_t readers = 0;
    std::uint64_t events_max = 0;  // of the fullest partition
};
std::uint64_t events_of(const PartitionInfo& partition);
Totals totals_of(const std::vector<PartitionState>& partitions);
// How many events a purge up to `before` takes, of one partition or of all.
std::uint64_t purged_events(const std::vector<PartitionState>& partitions,
                            std::optional<std::uint32_t> partition,
                            std::optional<std::int64_t> before);

}  // namespace evenkeel::cli
