#include "cli/text/sent_places.h"

#include <algorithm>

#include <fmt/core.h>

namespace evenkeel::cli {

void SentPlaces::add(std::uint32_t partition, std::int64_t first, std::int64_t last) {
    const auto [place, is_new] = ranges_.try_emplace(partition, Range{first, last, 0});
    Range& range = place->second;
    range.first = std::min(range.first, first);
    range.last = std::max(range.last, last);
    range.events += last - first + 1;
}

std::string SentPlaces::text() const {
    if (ranges_.size() > partitions_shown_max) return fmt::format("{} partitions", ranges_.size());
    std::string text;
    for (const auto& [partition, range] : ranges_) {
        text +=
            fmt::format("{}{} seq {}", text.empty() ? "partition " : ", ", partition, range.first);
        if (range.last > range.first) text += fmt::format("-{}", range.last);
        if (range.last - range.first + 1 > range.events) text += " (shared)";
    }
    return text;
}

}  // namespace evenkeel::cli
