// Checkpoints as other programs keep them, to be imported. Pure.
//
//     metadata   <ns>/<hub>/<group>/checkpoint/<p>    metadata of a blob: the SDKs of today
//     functions  <ns>/<hub>/<group>/<p>               JSON in a blob: Functions' extension up to 4
//     lease      <group>/<p>                          JSON in a blob: EventProcessorHost
//     jedis      <ns>/<hub>/<group>/<p>               JSON in a Redis hash: Java's Jedis store
//
// Cases of letters and underscores in names of JSON members do not matter, so that the hosts of
// other languages are understood too; Go's has its position in a member "checkpoint".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "checkpoint/store.h"

namespace evenkeel::checkpoint {

enum class LegacyLayout : std::uint8_t { metadata, functions, lease, jedis };
std::string_view to_string(LegacyLayout layout);

// Where a record lies: "myns/homes/$Default/" and 3. Of the metadata layout also ownerships.
struct LegacyPlace {
    std::string path;
    PartitionId partition;
    bool is_ownership = false;
};

// None if the name is not one of this group's records in this layout. Cases of letters do not
// matter; a `path` that is not empty replaces the group's names, and must be met exactly.
std::optional<LegacyPlace> legacy_place(LegacyLayout layout, std::string_view name,
                                        const GroupName& group, std::string_view path);

struct LegacyRecord {
    std::optional<Checkpoint> checkpoint;  // none: nothing was handled yet
    std::string remark = {};               // what the operator should know about it
};

// `corrupt` says what is wrong with it.
Result<LegacyRecord> lease_record(PartitionId partition, std::string_view json);
Result<LegacyRecord> jedis_record(PartitionId partition, std::string_view json);

struct LegacyOwner {
    std::string owner;  // "": nobody
    std::int64_t modified_ms = 0;
};
// Nobody if it cannot be read.
LegacyOwner jedis_owner(std::string_view json);

// How Functions' extension wrote namespace and event hub into names of blobs.
std::string functions_escaped(std::string_view name);

}  // namespace evenkeel::checkpoint
