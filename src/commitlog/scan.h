// Walking records in a segment file: one after the other, and on to the next good one after damage.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "commitlog/record.h"
#include "io/file.h"

namespace evenkeel::commitlog {

// Reads records in order through a buffer of its own. A record it returns lives until the next
// call.
class Scanner {
public:
    // Records lie in [base, end) of the stream; `end` may be beyond what the file holds.
    Scanner(io::File& file, Offset base, Offset end, std::uint32_t seed)
        : file_(file), base_(base), end_(end), seed_(seed) {}

    // The record at `offset` if it is good and has that number; none if it is not.
    Result<std::optional<Record>> at(Offset offset, SequenceNumber sequence);
    // The first good record at or after `from` with a number of at least `sequence`. Records lie at
    // multiples of 8 and name their own place, so bytes inside an event cannot pose as one. A
    // record whose checksum holds but whose number cannot be right is passed over as a bad one: it
    // is `below` or higher, there is no room for the events before it, or the two records behind it
    // agree on another one.
    Result<std::optional<Record>> find(Offset from, SequenceNumber sequence,
                                       SequenceNumber below = unlimited);
    static constexpr SequenceNumber unlimited{std::numeric_limits<std::int64_t>::max()};

private:
    // At least `bytes` from `offset` on, or what the file still has.
    Result<ByteView> window(Offset offset, std::size_t bytes);
    Result<std::optional<Record>> decode_at(Offset offset);
    // What stays of a record when the next one is read.
    struct Seen {
        SequenceNumber sequence;
        Offset end;
    };
    Result<std::optional<Seen>> look_at(Offset offset);
    Result<bool> is_contradicted(const Seen& record, SequenceNumber below);

    io::File& file_;
    const Offset base_;
    const Offset end_;
    const std::uint32_t seed_;
    std::vector<std::byte> buffer_;
    Offset buffer_from_{0};
    std::size_t buffer_bytes_ = 0;
};

}  // namespace evenkeel::commitlog
