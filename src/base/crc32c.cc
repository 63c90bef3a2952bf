#include "base/crc32c.h"

#include <isa-l/crc.h>

#include "base/check.h"

namespace evenkeel {

std::uint32_t crc32c(ByteView bytes, std::uint32_t before) {
    EK_CHECK(bytes.size() <= 0x7fffffff, "checksums go over at most 2 GiB at once");
    // ISA-L takes a non-const pointer but only reads.
    auto* data = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(bytes.data()));
    return ~crc32_iscsi(data, static_cast<int>(bytes.size()), ~before);
}

}  // namespace evenkeel
