#include "cli/latencies.h"

#include <algorithm>
#include <bit>

namespace evenkeel::cli {
namespace {

// Below 16 a bucket for each value; above, 16 for each doubling.
std::size_t bucket_of(std::uint64_t nanoseconds) {
    if (nanoseconds < 16) return nanoseconds;
    const auto doubling = static_cast<std::size_t>(std::bit_width(nanoseconds)) - 5;
    const std::size_t bucket = (doubling + 1) * 16 + ((nanoseconds >> doubling) - 16);
    return std::min(bucket, Latencies::bucket_count - 1);
}

double upper_bound_of(std::size_t bucket) {
    if (bucket < 16) return static_cast<double>(bucket);
    const std::size_t doubling = bucket / 16 - 1;
    return static_cast<double>((std::uint64_t{bucket % 16} + 17) << doubling);
}

}  // namespace

void Latencies::observe(Duration duration) {
    const auto nanoseconds = static_cast<std::uint64_t>(std::max(Duration(0), duration).count());
    buckets_[bucket_of(nanoseconds)].fetch_add(1, std::memory_order_relaxed);
}

void Latencies::add_to(Buckets& buckets) const {
    for (std::size_t i = 0; i < bucket_count; ++i) {
        buckets[i] += buckets_[i].load(std::memory_order_relaxed);
    }
}

double Latencies::quantile(const Buckets& buckets, const Buckets& before, double quantile) {
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < bucket_count; ++i) total += buckets[i] - before[i];
    if (total == 0) return 0;
    const auto rank = static_cast<std::uint64_t>(static_cast<double>(total - 1) * quantile);
    std::uint64_t passed = 0;
    for (std::size_t i = 0; i < bucket_count; ++i) {
        passed += buckets[i] - before[i];
        if (passed > rank) return upper_bound_of(i) / 1e6;
    }
    return upper_bound_of(bucket_count - 1) / 1e6;
}

}  // namespace evenkeel::cli
