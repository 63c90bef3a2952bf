// A set of numbers that come mostly one after the other, kept as intervals: what was acknowledged
// and what was read, exactly, however long the run.
#pragma once

#include <cstdint>
#include <map>

namespace evenkeel::demo {

class NumberSet {
public:
    // Adds [first, first + count); returns how many of them were not in it before.
    std::uint64_t add(std::uint64_t first, std::uint64_t count);
    std::uint64_t size() const { return size_; }
    // How many are in this set and not in `other`.
    std::uint64_t missing_in(const NumberSet& other) const;

private:
    std::map<std::uint64_t, std::uint64_t> intervals_;  // first to end; neither touch nor overlap
    std::uint64_t size_ = 0;
};

}  // namespace evenkeel::demo
