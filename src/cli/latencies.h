// How long things took, in buckets that are at most 1/16 wide, so that a quantile is right to 6 %.
//
// Threads: observe() any; the rest may run beside it and sees what was there a moment ago.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "base/clock.h"

namespace evenkeel::cli {

class Latencies {
public:
    static constexpr std::size_t bucket_count = 44 * 16;
    using Buckets = std::array<std::uint64_t, bucket_count>;

    void observe(Duration duration);
    void add_to(Buckets& buckets) const;

    // In milliseconds, of what is in `buckets` and was not yet in `before`; 0 if that is nothing.
    static double quantile(const Buckets& buckets, const Buckets& before, double quantile);

private:
    std::array<std::atomic<std::uint64_t>, bucket_count> buckets_{};
};

}  // namespace evenkeel::cli
