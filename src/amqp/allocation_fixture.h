// Counts what is allocated, for AMQP-5: at most 16 times the bytes that came, and 64 KiB.
#pragma once

#include <cstddef>
#include <cstdint>

#include <sanitizer/allocator_interface.h>

#include "base/check.h"

namespace evenkeel::amqp {

inline std::uint64_t allocated_bytes = 0;

// All allocations from here on are counted.
inline void count_allocations() {
    static const int installed = __sanitizer_install_malloc_and_free_hooks(
        [](const volatile void*, std::size_t size) { allocated_bytes += size; },
        [](const volatile void*) {});
    EK_CHECK(installed > 0, "allocations are counted");
    allocated_bytes = 0;
}

inline void check_allocated(std::size_t received_bytes) {
    EK_CHECK(allocated_bytes <= 16 * received_bytes + (64 << 10),
             "a length on the wire makes no memory (AMQP-5)");
}

}  // namespace evenkeel::amqp
