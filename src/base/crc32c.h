// CRC-32C (Castagnoli), the checksum of everything we store. crc32c(bytes, crc32c(before)) equals
// the checksum of both parts joined, so a seed can stand for what is not written down.
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace evenkeel {

std::uint32_t crc32c(ByteView bytes, std::uint32_t before = 0);

}  // namespace evenkeel
