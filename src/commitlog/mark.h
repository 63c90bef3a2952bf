// The mark of a partition: how far its stream is known to be durable, and where it begins. A small
// file with two slots that are written in turn, so that a torn or damaged slot leaves the other.
//
// Invariants
//   LOG-9  The end is raised only after the stream was synced up to there, and never falls:
//          recovery cuts nothing below it.
//   LOG-10  The start is durable before anything below it is removed.
//   LOG-11  Without the file everything that is stored stays readable; what it adds is a fast
//           start, proof that a damaged last record was once good, and the purge point.
#pragma once

#include <array>
#include <optional>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/ids.h"
#include "base/result.h"
#include "io/file.h"

namespace evenkeel::commitlog {

struct Mark {
    std::uint64_t counter = 0;  // the higher one of two slots is the newer one
    Offset start{0};
    SequenceNumber start_sequence{0};
    Offset end{0};
    SequenceNumber end_sequence{0};       // of the next event
    WallTime last_time{0};                // of the last event before the end; 0 if none
    std::uint32_t last_record_bytes = 0;  // of the same event
    bool operator==(const Mark&) const = default;
};

inline constexpr std::size_t mark_slot_bytes = 64;
inline constexpr std::uint64_t mark_slot_distance = 512;  // a sector of its own
inline constexpr const char* mark_file_name = "mark";

std::array<std::byte, mark_slot_bytes> encode(const Mark& mark, std::uint32_t seed);
std::optional<Mark> decode_mark(ByteView slot, std::uint32_t seed);

// The newer good slot; none if the file is missing, or neither slot is good. `unsupported` if a
// newer version of Evenkeel wrote one.
Result<std::optional<Mark>> read_mark(io::FileSystem& files, const std::string& directory,
                                      std::uint32_t seed);
// Writes the slot that the counter chooses; durable after file.sync().
Result<> write_mark(io::File& file, const Mark& mark, std::uint32_t seed);
// Writes both slots, with the mark's counter and the one before, and syncs: no older start can come
// back. The counter was raised by 2.
Result<> write_mark_durably(io::File& file, const Mark& mark, std::uint32_t seed);

}  // namespace evenkeel::commitlog
