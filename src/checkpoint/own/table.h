// What a store does (STORE-1 to STORE-4), by the four operations of a store of the user's. A
// checkpoint is read, judged, and replaced on the very version that was read; if another was
// faster, again. So what fences and what never goes back does not depend on the user's code, only
// on its compare-and-set.
// Threads: one at a time. Calls block.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "checkpoint/own/entries.h"
#include "checkpoint/store.h"
#include <evenkeel/checkpoint_store.h>

namespace evenkeel::checkpoint {

class OwnTable {
public:
    // Of a write that others are always faster than: `overloaded` after so many.
    static constexpr int attempts_max = 1000;

    OwnTable(std::shared_ptr<CheckpointStore> store, OwnKeys keys)
        : store_(std::move(store)), keys_(std::move(keys)) {}

    Result<std::vector<Member>> members();
    Result<std::string> write_member(const Member& member);
    Result<> remove_member(std::string_view id, const std::string& version);
    Result<std::vector<Ownership>> ownerships();
    Result<std::string> write_ownership(const Ownership& ownership);
    Result<std::vector<Checkpoint>> checkpoints();
    Result<Checkpoint> seal(PartitionId partition, Epoch epoch, WallTime now);
    Result<> write_checkpoint(const Checkpoint& checkpoint, WallTime now);
    Result<> reset_checkpoint(const Checkpoint& checkpoint, WallTime now);
    Result<> add_dead_letter(const DeadLetter& letter);
    Result<std::vector<DeadLetter>> dead_letters(const DeadLetterPage& page);
    // Reads them all: a store of the user's lists entries with their values.
    Result<std::map<PartitionId, std::uint64_t>> dead_letter_counts();
    Result<> remove_dead_letter(const DeadLetterId& id);
    Result<std::vector<Record>> records(std::string_view prefix);
    Result<std::string> write_record(const Record& record);

private:
    struct Known {
        Checkpoint checkpoint;
        std::string version;  // "": there is none
    };

    // `change(Checkpoint&)` on the stored one, or on an empty one: an error, whether to write it.
    template <typename Change>
    Result<Checkpoint> change(PartitionId partition, Change change);
    Result<Known> read(PartitionId partition);

    const std::shared_ptr<CheckpointStore> store_;
    const OwnKeys keys_;
    std::map<PartitionId, Known> known_;  // as last read or written; may be old
};

}  // namespace evenkeel::checkpoint
