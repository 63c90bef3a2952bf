// Reads the checkpoints that other programs keep in Blob storage or Redis, to be imported
// (checkpoint/import/records.h has the layouts). It only looks: nothing is written there.
// Threads: blocks; any but a loop's.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "checkpoint/import/records.h"
#include "checkpoint/store.h"

namespace evenkeel::checkpoint {

struct LegacyQuery {
    std::string address;  // "azblob:...", "redis://..."
    GroupName group;
    // None: jedis in Redis; in Blob storage the first that has something of the group, of metadata,
    // functions and lease.
    std::optional<LegacyLayout> layout = {};
    std::string path = {};  // what names begin with, if not with those of the group
    std::vector<std::uint32_t> partitions = {};  // empty: all
};

struct LegacyEntry {
    std::string name;  // of the blob or key
    PartitionId partition;
    Result<LegacyRecord> record;
    std::string owner = {};  // a program that is still at work on it; "": none is seen
};

struct LegacyCheckpoints {
    LegacyLayout layout;
    std::string path;
    std::vector<LegacyEntry> entries;  // by partition
};

// `not_found`: nothing of the group is there; what else is there is named. `conflict`: the group is
// there under several names that differ by case; all are named, and `path` chooses one.
Result<LegacyCheckpoints> read_legacy(const LegacyQuery& query);
Result<LegacyCheckpoints> read_legacy_blobs(const LegacyQuery& query);
Result<LegacyCheckpoints> read_legacy_redis(const LegacyQuery& query);

struct LegacyPath {
    std::string path;
    std::size_t records = 0;
};
// The only one of them; pure. `others` is what else was seen.
Result<std::string> only_path(const std::vector<LegacyPath>& found, const LegacyQuery& query,
                              const std::vector<std::string>& others);

bool is_wanted(const LegacyQuery& query, PartitionId partition);

// The owner of a younger entry may be running: no SDK takes another for alive any longer.
inline constexpr Duration legacy_alive_max = std::chrono::seconds(120);

}  // namespace evenkeel::checkpoint
