#include "bench/allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define EK_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define EK_SANITIZED
#endif
#endif

namespace evenkeel::bench {
namespace {

std::atomic<bool> counting{false};
std::atomic<std::uint64_t> count{0};

}  // namespace

#ifdef EK_SANITIZED
const bool allocations_are_counted = false;
#else
const bool allocations_are_counted = true;
#endif

AllocationCount::AllocationCount() {
    count = 0;
    counting = true;
}

AllocationCount::~AllocationCount() {
    counting = false;
}

std::uint64_t AllocationCount::value() const {
    return count;
}

#ifndef EK_SANITIZED
static void* allocate(std::size_t size) {
    if (counting.load(std::memory_order_relaxed)) [[unlikely]] {
        count.fetch_add(1, std::memory_order_relaxed);
    }
    void* memory = std::malloc(size > 0 ? size : 1);
    if (!memory) std::abort();  // out of memory ends the process
    return memory;
}
#endif

}  // namespace evenkeel::bench

#ifndef EK_SANITIZED
// The other forms of new and delete come down to these.
void* operator new(std::size_t size) {
    return evenkeel::bench::allocate(size);
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
#endif
