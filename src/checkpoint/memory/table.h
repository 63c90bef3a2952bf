// The entries of one group, as values: what every store does with each operation (STORE-1 to
// STORE-4 and STORE-7 of checkpoint/store.h), without I/O and without a clock. The memory store is
// made of it, and the tests compare other stores with it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "base/result.h"
#include "checkpoint/store.h"

namespace evenkeel::checkpoint {

// The store's own clocks at one step.
struct Moment {
    Instant now;
    WallTime wall;
};

class Table {
public:
    // Ages as of `at`; members by id, all else by partition.
    std::vector<Member> members(Moment at) const;
    std::vector<Ownership> ownerships(Moment at) const;
    std::vector<Checkpoint> checkpoints() const;
    std::vector<DeadLetter> dead_letters(const DeadLetterPage& page) const;
    std::map<PartitionId, std::uint64_t> dead_letter_counts() const;
    std::vector<Record> records(std::string_view prefix) const;

    Result<std::string> write_member(const Member& member, Moment at);
    Result<> remove_member(std::string_view id, std::string_view version);
    Result<std::string> write_ownership(const Ownership& ownership, Moment at);
    Result<Checkpoint> seal(PartitionId partition, Epoch epoch, Moment at);
    Result<> write_checkpoint(const Checkpoint& checkpoint, Moment at);
    void reset_checkpoint(const Checkpoint& checkpoint, Moment at);
    void add_dead_letter(const DeadLetter& letter);
    void remove_dead_letter(const DeadLetterId& id) { dead_letters_.erase(id); }
    Result<std::string> write_record(const Record& record);

    // Rises when members or ownerships change in more than their version, age, note and load.
    std::uint64_t changes() const { return changes_; }

private:
    template <typename T>
    struct Entry {
        T value;
        Instant written;
    };

    std::string next_version();

    std::uint64_t last_version_ = 0;
    std::uint64_t changes_ = 0;
    std::map<std::string, Entry<Member>, std::less<>> members_;
    std::map<PartitionId, Entry<Ownership>> ownerships_;
    std::map<PartitionId, Checkpoint> checkpoints_;
    std::map<DeadLetterId, DeadLetter> dead_letters_;
    std::map<std::string, Record, std::less<>> records_;
};

// What is wrong with a write of version `given` over `stored` ("" = there is none): never lost
// without a word, so that operators learn from a trace line who was first.
Error version_conflict(std::string_view what, std::string_view given, std::string_view stored);
Error epoch_fenced(PartitionId partition, Epoch given, Epoch stored);
Error position_conflict(const Checkpoint& given, const Checkpoint& stored);

}  // namespace evenkeel::checkpoint
