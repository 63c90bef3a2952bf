#include "demo/number_set.h"

#include <algorithm>
#include <iterator>

namespace evenkeel::demo {

std::uint64_t NumberSet::add(std::uint64_t first, std::uint64_t count) {
    if (count == 0) return 0;
    if (!intervals_.empty() && std::prev(intervals_.end())->second == first) {  // almost always
        std::prev(intervals_.end())->second += count;
        size_ += count;
        return count;
    }
    std::uint64_t begin = first;
    std::uint64_t end = first + count;
    std::uint64_t known = 0;
    auto at = intervals_.upper_bound(begin);
    if (at != intervals_.begin() && std::prev(at)->second >= begin) --at;
    while (at != intervals_.end() && at->first <= end) {
        const std::uint64_t overlap_begin = std::max(first, at->first);
        const std::uint64_t overlap_end = std::min(first + count, at->second);
        if (overlap_end > overlap_begin) known += overlap_end - overlap_begin;
        begin = std::min(begin, at->first);
        end = std::max(end, at->second);
        at = intervals_.erase(at);
    }
    intervals_.emplace(begin, end);
    size_ += count - known;
    return count - known;
}

std::uint64_t NumberSet::missing_in(const NumberSet& other) const {
    std::uint64_t missing = 0;
    for (const auto& [first, end] : intervals_) {
        std::uint64_t found = 0;
        auto at = other.intervals_.upper_bound(first);
        if (at != other.intervals_.begin()) --at;
        for (; at != other.intervals_.end() && at->first < end; ++at) {
            const std::uint64_t overlap_begin = std::max(first, at->first);
            const std::uint64_t overlap_end = std::min(end, at->second);
            if (overlap_end > overlap_begin) found += overlap_end - overlap_begin;
        }
        missing += end - first - found;
    }
    return missing;
}

}  // namespace evenkeel::demo
