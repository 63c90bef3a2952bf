// One stored event: a header of 56 bytes, the partition key, the event's AMQP sections, zeros up to
// the next multiple of 8. So an event of n bytes moves the partition's offset by n + 56 rounded up,
// as it does in Azure Event Hubs.
//
//   0 magic u32 | 4 crc u32 | 8 body bytes u32 | 12 key bytes u16 | 14 flags u16 | 16 sequence i64
//   24 offset i64 | 32 enqueued ms i64 | 40 index in batch u32 | 44 remaining in batch u32
//   48 synced i64 | 56 key | body | zeros
//
// Invariants
//   LOG-16  The checksum covers everything behind it and, by its seed, the incarnation of the event
//           hub and the partition; the record names its own offset. A good record in the wrong
//           place is a bad record.
//   LOG-17  `synced` is a position that had been synced before this record was written: whatever
//           lies below it in the stream was durable once.
//   LOG-18  The events of a batch are neighbours; the last one has `remaining` 0.
#pragma once

#include <array>
#include <optional>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/ids.h"

namespace evenkeel::commitlog {

inline constexpr std::size_t record_header_bytes = 56;
inline constexpr std::uint32_t record_magic = 0x31524b45;  // "EKR1"
inline constexpr std::size_t key_bytes_max = 0xffff;
// More than any message the hub accepts; a length above it is damage, not a size to allocate.
inline constexpr std::size_t body_bytes_max = std::size_t{64} << 20;

// Random, drawn once for each event hub that is created: a re-created hub shares nothing with the
// old one of its name.
using Incarnation = std::array<std::byte, 16>;

// Whose log it is; the start value of all its checksums.
std::uint32_t checksum_seed(const Incarnation& incarnation, PartitionId partition);

struct Record {
    SequenceNumber sequence;
    Offset offset;
    WallTime enqueued;
    std::uint32_t batch_index = 0;
    std::uint32_t batch_remaining = 0;
    Offset synced{0};
    ByteView key;
    ByteView body;
};

constexpr std::size_t stored_bytes(std::size_t key_bytes, std::size_t body_bytes) {
    return align8(record_header_bytes + key_bytes + body_bytes);
}
inline std::size_t stored_bytes(const Record& record) {
    return stored_bytes(record.key.size(), record.body.size());
}

// Writes exactly stored_bytes(record) bytes.
void encode(const Record& record, std::uint32_t seed, std::byte* to);

// The record at the beginning of bytes that are known to be good: of our own memory, or checked.
Record view(const std::byte* bytes);
// The size of that record.
std::size_t stored_bytes_at(const std::byte* bytes);
// How many bytes of `bytes` the record there claims; none if it cannot be a record at all or its
// header is not all there. Nothing is verified.
std::optional<std::size_t> claimed_bytes(ByteView bytes);
// The record that begins `bytes`, if it is whole, its checksum holds, and it belongs at `offset`.
std::optional<Record> decode(ByteView bytes, Offset offset, std::uint32_t seed);

}  // namespace evenkeel::commitlog
