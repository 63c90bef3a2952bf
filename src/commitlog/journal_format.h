// The bytes of a journal file: a header, twice, and entries behind it. An entry is a piece of one
// partition's stream, as it was written to the segment that it names.
//
//   0, 512  header: 0 magic 8 | 8 crc u32 | 12 version u16 | 14 zero u16 | 16 generation u64
//                   24 nonce 16 | 40 zeros
//   1024    entry:  0 magic u32 | 4 crc u32 | 8 bytes u32 | 12 partition u32 | 16 incarnation 16
//                   32 generation u64 | 40 segment's base sequence i64 | 48 its base offset i64
//                   56 offset of the bytes i64 | 64 bytes, a multiple of 8, at most 64 KiB
//
// An entry's checksum is seeded with nonce and generation, so that what an earlier use of the file
// left behind is never taken for an entry of this one. docs/formats/journal.md has it all.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "commitlog/recovery.h"
#include "commitlog/segment.h"

namespace evenkeel::commitlog {

inline constexpr std::size_t journal_header_bytes = 64;
inline constexpr std::size_t journal_header_distance = 512;  // a sector of its own
inline constexpr std::size_t journal_entries_at = 2 * journal_header_distance;
inline constexpr std::size_t journal_entry_header_bytes = 64;
// Of the stream in one entry. Bounds what recovery reads for each place that looks like one.
inline constexpr std::size_t journal_entry_bytes_max = std::size_t{64} << 10;

using JournalNonce = std::array<std::byte, 16>;

struct JournalHeader {
    std::uint64_t generation = 0;
    JournalNonce nonce{};
    std::uint32_t seed() const;
};

// Both copies, and the zeros up to the first entry.
std::array<std::byte, journal_entries_at> encode(const JournalHeader& header);
// The newer good copy in the first bytes of a file; none if there is none. `unsupported` if a newer
// version of Evenkeel wrote one. `what` names the file.
Result<std::optional<JournalHeader>> decode_journal_header(ByteView bytes, const std::string& what);

// Where the bytes of an entry belong.
struct JournalPlace {
    LogIdentity identity;
    SegmentName segment;
    Offset from{0};
};
struct JournalEntry {
    JournalPlace place;
    ByteView bytes;
};

// Room for an entry of `bytes` at the end of `to`, with all of its header but the checksum; the
// caller fills what is returned, then calls seal_entry().
std::byte* begin_entry(const JournalPlace& place, std::uint64_t generation, std::size_t bytes,
                       std::vector<std::byte>& to);
void seal_entry(std::size_t bytes, std::uint32_t seed, std::byte* payload);
// The entry that begins `bytes`, if it is whole and of this header's generation.
std::optional<JournalEntry> decode_journal_entry(ByteView bytes, const JournalHeader& header);

}  // namespace evenkeel::commitlog
