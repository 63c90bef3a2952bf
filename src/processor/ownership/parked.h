// Partitions that stand still until an operator resumes them: an event that always fails has parked
// them, or too many dead letters in a row.
//
//     request/parked/<partition>   "<at_ms>\t<park or storm>\t<by>\t<reason>"
//
// Their owner writes the record. All owners obey it, over moves and restarts, until it is removed.
// It lies among the requests of operators, so that each look for those finds it.
// Threads: pinned to the loop. Failure: reported and tried again; the owner obeys meanwhile.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/lifetime.h"
#include "base/random.h"
#include "base/result.h"
#include "checkpoint/store.h"
#include "io/loop.h"
#include "io/timer.h"

namespace evenkeel::processor {

inline constexpr std::string_view parked_prefix = "request/parked/";

struct Parked {
    std::int64_t at_ms = 0;
    bool is_storm = false;  // too many dead letters in a row; else one event that always fails
    std::string by = {};    // the instance that owned the partition
    std::string reason = {};
    bool operator==(const Parked&) const = default;
};

std::string parked_key(PartitionId partition);
// None if it is no such key.
std::optional<PartitionId> partition_of_parked(std::string_view key);
// Without control characters, and cut to what a record takes.
std::string encode(const Parked& parked);
// What cannot be read is parked all the same, for a reason that is not known.
Parked decode_parked(std::string_view text);

class ParkedPartitions {
public:
    struct Told {
        std::function<void()> changed;  // another member or an operator has changed something
        std::function<void(PartitionId, const Error&, Duration retried_in)> failed;
    };
    // Loop and store outlive it.
    ParkedPartitions(io::Loop& loop, checkpoint::Store& store, Random random, Told told)
        : loop_(loop), store_(store), random_(random), told_(std::move(told)) {}

    bool contains(PartitionId partition) const { return find(partition).has_value(); }
    std::optional<Parked> find(PartitionId partition) const;
    void park(PartitionId partition, const Parked& parked) { want(partition, encode(parked)); }
    void unpark(PartitionId partition) { want(partition, ""); }
    // What a look for requests has found.
    void seen(const std::map<PartitionId, Parked>& parked);

private:
    struct Entry {
        std::string value;          // "": it is not parked
        bool is_stored = true;      // false: it is still to be written
        bool is_under_way = false;  // somebody asks the store about it
        bool is_fresh = false;      // written since the last look, which may be older than that
    };

    void want(PartitionId partition, std::string value);
    void write(PartitionId partition);
    void write_over(PartitionId partition, const std::string& version);
    void written(PartitionId partition, const std::string& value, const Result<>& result);
    void write_all();

    io::Loop& loop_;
    checkpoint::Store& store_;
    Random random_;
    const Told told_;
    std::map<PartitionId, Entry> entries_;
    std::uint32_t failures_ = 0;
    io::Timer timer_{loop_};
    Lifetime lifetime_;
};

}  // namespace evenkeel::processor
