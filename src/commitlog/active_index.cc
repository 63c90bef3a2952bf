#include "commitlog/active_index.h"

#include <algorithm>

#include "base/check.h"

namespace evenkeel::commitlog {

ActiveIndex::ActiveIndex(std::uint64_t distance, Offset base, std::vector<IndexEntry> entries)
    : distance_(static_cast<std::int64_t>(distance)), entries_(std::move(entries)) {
    set_next(base);
}

void ActiveIndex::show(std::span<const IndexEntry> flushed, bool created) {
    if (created) entries_.clear();
    entries_.insert(entries_.end(), flushed.begin(), flushed.end());
}

void ActiveIndex::settle(Offset visible) {
    const auto waiting = std::find_if(pending_.begin(), pending_.end(),
                                      [&](const auto& entry) { return entry.offset >= visible; });
    pending_.erase(pending_.begin(), waiting);
    check_state();
}

void ActiveIndex::cut(Offset base) {
    pending_.clear();
    set_next(base);
}

std::optional<IndexEntry> ActiveIndex::floor(const Target& target) const {
    const auto at = floor_entry(entries_, target);
    if (at < 0) return std::nullopt;
    return entries_[static_cast<std::size_t>(at)];
}

void ActiveIndex::set_next(Offset base) {
    next_ = (entries_.empty() ? base : entries_.back().offset) + distance_;
}

void ActiveIndex::check_state() const {
    const bool apart =
        entries_.empty() || pending_.empty() || entries_.back().offset < pending_.front().offset;
    EK_CHECK(apart, "an entry waits or is visible");
}

}  // namespace evenkeel::commitlog
