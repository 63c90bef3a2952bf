#include "host/scale/even_split.h"

#include <algorithm>

namespace evenkeel::host {
namespace {

// What the busiest of `instances` reads.
std::uint32_t share(std::uint32_t partitions, std::uint32_t instances) {
    return partitions / instances + (partitions % instances == 0 ? 0 : 1);
}

}  // namespace

std::vector<std::uint32_t> even_counts(std::uint32_t partitions) {
    std::vector<std::uint32_t> counts{0};
    for (std::uint32_t i = partitions; i > 0; --i) {
        const std::uint32_t count = share(partitions, i);
        if (count != counts.back()) counts.push_back(count);
    }
    return counts;
}

std::uint32_t even_split(std::int64_t demand, std::uint32_t partitions) {
    if (demand <= 0 || partitions == 0) return 0;
    if (demand == 1) return 1;
    if (demand >= partitions) return partitions;
    // The greatest i with ceil(partitions / i) >= demand gives the least such count.
    const auto below = static_cast<std::uint32_t>(demand - 1);
    return share(partitions, share(partitions, below) - 1);
}

std::uint32_t even_split_below(std::uint32_t count, std::uint32_t partitions) {
    const auto counts = even_counts(partitions);
    const auto at = std::lower_bound(counts.begin(), counts.end(), count);
    return at == counts.begin() ? 0 : *(at - 1);
}

}  // namespace evenkeel::host
