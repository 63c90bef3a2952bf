// The last moves of each partition and their reasons, for operators: from whom, to whom, why, how
// long nobody read it, and what was repeated. In the store, under "moves/<partition>", written by
// whoever carried the move out; the new owner adds the gap when it reads.
//
// It is no part of what keeps owners apart: a line that cannot be written after some attempts is
// dropped. Each move has an epoch of its own, so that none is there twice.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/lifetime.h"
#include "base/task.h"
#include "checkpoint/store.h"
#include "io/loop.h"

namespace evenkeel::processor {

struct OwnerMove {
    PartitionId partition;
    Epoch epoch = {};
    std::int64_t at_ms = 0;
    std::string from = {};  // a member's id; "" = nobody
    std::string to = {};
    std::string reason = {};
    // From the last sign of the owner before until the new one reads, by the clocks of both; of a
    // take-over that is not read yet: until it was claimed. None: not known, or nobody read it
    // before.
    std::optional<std::int64_t> gap_ms = {};
    std::optional<std::int64_t> repeated = {};  // events that were handled twice; none: not known
    bool operator==(const OwnerMove&) const = default;
};

inline constexpr std::string_view moves_prefix = "moves/";
inline constexpr std::size_t moves_max = 16;  // of one partition

std::string moves_key(PartitionId partition);
// A line each, oldest first, at most moves_max and what a record holds. Control characters in names
// become spaces.
std::string encode_moves(const std::vector<OwnerMove>& moves);
// Lines that cannot be read are left out.
std::vector<OwnerMove> decode_moves(PartitionId partition, std::string_view text);
// By epoch, none twice.
std::vector<OwnerMove> merge_moves(std::vector<OwnerMove> stored,
                                   const std::vector<OwnerMove>& added);

// Threads: pinned to the loop.
class Journal {
public:
    static constexpr std::uint32_t attempts_max = 5;

    // Both outlive it.
    Journal(io::Loop& loop, checkpoint::Store& store) : loop_(loop), store_(store) {}

    void add(OwnerMove move);
    // The new owner reads from now on: the gap of this move is known, if it has one. Its line may
    // still be on its way, from the owner before.
    void note_read(PartitionId partition, Epoch epoch);
    // `done` once all that was added is stored or dropped, but after `wait` at the latest.
    void flush(Duration wait, Task done);

private:
    struct Read {
        Epoch epoch;
        std::int64_t at_ms = 0;
        std::optional<std::int64_t> gap_ms = {};  // once the line was seen
    };
    struct Page {
        std::vector<OwnerMove> waiting;  // to be written
        std::optional<Read> read;        // to be added to its line
        bool is_busy = false;
        std::uint32_t attempts = 0;
    };

    void write(PartitionId partition);
    void write(PartitionId partition, const std::vector<checkpoint::Record>& listed);
    void written(PartitionId partition, std::size_t count, bool is_read_told);
    void failed(PartitionId partition);
    void look_for_end();

    io::Loop& loop_;
    checkpoint::Store& store_;
    std::map<PartitionId, Page> pages_;
    Task flushed_;
    Lifetime lifetime_;
};

}  // namespace evenkeel::processor
