// The body of one event of the demo's stream: who sent it, where to, its number, and a checksum
// over all of it, so that a reader can verify that it is what was sent.
//
//   0 crc u32 | 4 producer u32 | 8 run u64 | 16 number u64 | 24 partition u32 | 28 zero u32 |
//   filling
#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes.h"

namespace evenkeel::demo {

inline constexpr std::size_t stream_body_bytes_min = 32;

struct StreamBody {
    std::uint64_t run = 0;  // random: what an earlier run has left behind is not ours
    std::uint32_t producer = 0;
    std::uint32_t partition = 0;
    std::uint64_t number = 0;  // of this producer in this partition, from 0
    bool operator==(const StreamBody&) const = default;
};

// Fills all of `to`, which has at least stream_body_bytes_min bytes.
void encode(const StreamBody& body, ByteSpan to);
// None if the bytes are not a body as encode() makes it.
std::optional<StreamBody> decode_stream_body(ByteView bytes);

}  // namespace evenkeel::demo
