// The entries of a group as a store of the user's keeps them (include/evenkeel/checkpoint_store.h).
// Pure. Format: docs/formats/own_store.md.
//
//     <namespace>/<hub>/<group>/member/<id>         <namespace>/<hub>/<group>/dead/<p>/<sequence>
//     <namespace>/<hub>/<group>/ownership/<p>       <namespace>/<hub>/<group>/record/<key>
//     <namespace>/<hub>/<group>/checkpoint/<p>
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "checkpoint/store.h"
#include <evenkeel/checkpoint_store.h>

namespace evenkeel::checkpoint {

inline constexpr std::size_t key_part_bytes_max = 250;

// A name as a part of a key: percent-encoded, not empty, without a dot at its beginning.
std::string key_part(std::string_view name);

// Keys of a group. `invalid_argument` if a part is too long for a key.
class OwnKeys {
public:
    static Result<OwnKeys> of(const GroupName& group);

    Result<std::string> member(std::string_view id) const;
    std::string ownership(PartitionId partition) const;
    std::string checkpoint(PartitionId partition) const;
    std::string dead_letter(PartitionId partition, SequenceNumber sequence) const;
    std::string record(std::string_view key) const;
    // What all keys of a kind begin with.
    std::string kind(std::string_view name) const;

private:
    explicit OwnKeys(std::string prefix) : prefix_(std::move(prefix)) {}
    std::string prefix_;  // with a slash at its end
};

std::string to_value(const Member& member);
std::string to_value(const Ownership& ownership);
std::string to_value(const Checkpoint& checkpoint);
std::string to_value(const DeadLetter& letter);

// With the entry's version and age. `corrupt` names the key.
Result<Member> member_of(const CheckpointStore::Entry& entry);
Result<Ownership> ownership_of(const CheckpointStore::Entry& entry);
Result<Checkpoint> checkpoint_of(const CheckpointStore::Entry& entry);
Result<DeadLetter> dead_letter_of(const CheckpointStore::Entry& entry);
// `kind` is what the keys of records begin with.
Record record_of(const CheckpointStore::Entry& entry, std::string_view kind);

}  // namespace evenkeel::checkpoint
