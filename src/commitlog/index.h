// The sparse index of a segment: about one entry for 64 KiB of records, each with offset, sequence
// number and enqueued time of the record it points to. It is a hint (LOG-8): each entry has a
// checksum, the reader checks the record it points to, and a scan replaces it when it is missing or
// wrong.
//
//   entry: 0 crc u32 | 4 zero u32 | 8 offset i64 | 16 sequence i64 | 24 enqueued ms i64
#pragma once

#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/ids.h"
#include "base/result.h"
#include "commitlog/segment.h"
#include "io/file.h"

namespace evenkeel::commitlog {

inline constexpr std::size_t index_entry_bytes = 32;

struct IndexEntry {
    Offset offset;
    SequenceNumber sequence;
    WallTime enqueued;
    bool operator==(const IndexEntry&) const = default;
};

// What a reader looks for: the first event whose field is at least `value`.
struct Target {
    enum class Field : std::uint8_t { offset, sequence, enqueued };
    Field field = Field::offset;
    std::int64_t value = 0;

    bool reached_by(const Record& record) const;
    bool reached_by(const IndexEntry& entry) const;
};

void append_encoded(const IndexEntry& entry, std::uint32_t seed, std::vector<std::byte>& to);

// The good entries that lie in [segment base, end), in rising order; empty if there are none.
std::vector<IndexEntry> decode_index(ByteView bytes, Offset base, Offset end, std::uint32_t seed);
std::vector<IndexEntry> read_index(io::FileSystem& files, const std::string& path, Offset base,
                                   Offset end, std::uint32_t seed);

// Index of the last entry from which a scan forward meets the target; -1: scan from the start.
std::ptrdiff_t floor_entry(const std::vector<IndexEntry>& index, const Target& target);

}  // namespace evenkeel::commitlog
