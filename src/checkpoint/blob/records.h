// How the entries of a group lie in a container: names of blobs and their metadata. The first two
// kinds are the official SDKs' and are theirs byte for byte; keys that begin with "ek" are ours,
// and are gone once another program has written (docs/formats/blob.md). Pure.
//
//     <namespace>/<hub>/<group>/ownership/<p>     ownerid, and of ours: ekepoch, eksince, ekload
//     <namespace>/<hub>/<group>/checkpoint/<p>    offset, sequencenumber, clientidentifier, ...
//     <namespace>/<hub>/<group>/seal/<p>          the checkpoint before it has a position
//     <namespace>/<hub>/<group>/epoch/<p>         the epoch of a released partition
//     <namespace>/<hub>/<group>/members/<id>
//     <namespace>/<hub>/<group>/request/<key>     records of that kind: listed with all the above
//     evenkeel/<namespace>/<hub>/<group>/dead/<p>/<sequence>, .../record/<key>
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "checkpoint/blob/list.h"
#include "checkpoint/store.h"

namespace evenkeel::checkpoint {

inline constexpr std::string_view no_offset = "no offset";  // so .NET 5.11.3 to 5.11.6 wrote it
inline constexpr std::string_view start_offset = "-1";      // the beginning, to every SDK

// The names of a group's blobs, in lower case as all but two of the SDKs have them.
class BlobNames {
public:
    explicit BlobNames(const GroupName& group);

    const std::string& prefix() const { return prefix_; }  // with a slash at its end
    std::string ownership(PartitionId partition) const;
    std::string checkpoint(PartitionId partition) const;
    std::string seal(PartitionId partition) const;
    std::string epoch(PartitionId partition) const;
    std::string member(std::string_view id) const;
    std::string dead_letter(PartitionId partition, SequenceNumber sequence) const;
    std::string record(std::string_view key) const;

    std::string members() const { return prefix_ + "members/"; }
    std::string checkpoints() const { return prefix_ + "checkpoint/"; }
    std::string seals() const { return prefix_ + "seal/"; }
    std::string dead_letters() const { return ours_ + "dead/"; }
    std::string records() const { return ours_ + "record/"; }
    // Of the records whose key begins with request_keys; they lie where each look at the group
    // finds them.
    std::string requests() const { return prefix_ + std::string(request_keys); }
    static constexpr std::string_view request_keys = "request/";
    // What the names of all other records begin with whose key begins with `prefix`; others' may
    // too.
    std::string records_like(std::string_view prefix) const;
    // The key of a record's blob.
    std::string record_key(std::string_view name) const;

private:
    std::string prefix_;
    std::string ours_;
};

// "3" behind "<prefix>checkpoint/"; none if it is something else.
std::optional<PartitionId> partition_of(std::string_view name, std::string_view prefix);

// What one of our own blobs holds: fields as metadata, or in its body if they are too long for that
// ("ekbody" says so).
struct BlobContent {
    Metadata metadata;
    std::string body;
};
inline constexpr std::string_view body_key = "ekbody";
BlobContent pack(const Metadata& fields);
Result<Metadata> unpack(const Metadata& metadata, std::string_view body);

// A key that tells our write from all others.
inline constexpr std::string_view nonce_key = "ekw";

Metadata to_metadata(const Member& member);
Metadata to_metadata(const Ownership& ownership);  // nothing of ours on a released one
Metadata to_metadata(const Checkpoint& checkpoint, std::string_view writer);
Metadata to_metadata(const Record& record);
std::string to_body(const DeadLetter& letter);

// `corrupt` names the field.
Result<Member> member_of(std::string_view id, const Metadata& fields);
Ownership ownership_of(PartitionId partition, const Metadata& metadata);
// As tolerant as the most tolerant SDK: "no offset" is none. `corrupt` if it has no position at
// all.
Result<Checkpoint> checkpoint_of(PartitionId partition, const Metadata& metadata,
                                 WallTime modified);
Result<DeadLetter> dead_letter_of(std::string_view body);
Result<Record> record_of(std::string_view key, const Metadata& fields);
// A member's id or a record's key, from the end of a blob's name.
std::string name_decoded(std::string_view encoded);

const std::string* find(const Metadata& metadata, std::string_view key);
// 0 if it is not there, or no number.
std::int64_t number(const Metadata& metadata, std::string_view key);
// The same pairs, in any order.
bool is_same(Metadata a, Metadata b);

}  // namespace evenkeel::checkpoint
