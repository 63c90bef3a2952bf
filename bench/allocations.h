// How often operator new was called, for benchmarks that promise not to.
//
// It replaces the program's operator new. While nothing is counted, that costs one load of a
// flag beside the call of malloc(). Builds with a sanitizer keep the sanitizer's and count nothing.
// Threads: any.
#pragma once

#include <cstdint>

namespace evenkeel::bench {

extern const bool allocations_are_counted;  // false with a sanitizer

// Counts from 0 until it is destroyed, on all threads. One at a time.
class AllocationCount {
public:
    AllocationCount();
    ~AllocationCount();
    AllocationCount(const AllocationCount&) = delete;
    AllocationCount& operator=(const AllocationCount&) = delete;

    std::uint64_t value() const;
};

}  // namespace evenkeel::bench
