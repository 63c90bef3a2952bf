// How many instances divide the partitions of an event hub evenly. Pure.
//
// Between two such counts a further instance does not help: of 16 partitions the busiest of 6, and
// also of 7, instances reads 3.
#pragma once

#include <cstdint>
#include <vector>

namespace evenkeel::host {

// 0, and ceil(partitions / i) for each i, in rising order: 0 1 2 3 4 6 8 16 for 16 partitions.
std::vector<std::uint32_t> even_counts(std::uint32_t partitions);

// The least even count that is not below `demand`; `partitions` if there is none.
std::uint32_t even_split(std::int64_t demand, std::uint32_t partitions);

// The greatest even count below `count`; 0 if there is none.
std::uint32_t even_split_below(std::uint32_t count, std::uint32_t partitions);

}  // namespace evenkeel::host
