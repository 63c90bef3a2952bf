#include "base/crc32c.h"

#include <isa-l/crc.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/check.h"

namespace evenkeel {
namespace {

#if defined(__x86_64__)
// ISA-L returns with the upper halves of the wide registers in use. The next plain SSE instruction
// has to wait for them to be saved, and the next checksum for them to come back: 170 ns a record.
[[gnu::target("avx")]] void free_wide_registers() {
    _mm256_zeroupper();
}

const bool has_wide_registers = __builtin_cpu_supports("avx") != 0;
#else
void free_wide_registers() {}

const bool has_wide_registers = false;
#endif

}  // namespace

std::uint32_t crc32c(ByteView bytes, std::uint32_t before) {
    EK_CHECK(bytes.size() <= 0x7fffffff, "checksums go over at most 2 GiB at once");
    // ISA-L takes a non-const pointer but only reads.
    auto* data = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(bytes.data()));
    const std::uint32_t crc = ~crc32_iscsi(data, static_cast<int>(bytes.size()), ~before);
    if (has_wide_registers) free_wide_registers();
    return crc;
}

}  // namespace evenkeel
