#include "host/scale/recent_max.h"

#include <algorithm>

namespace evenkeel::host {

void RecentMax::note(std::int64_t value, Instant at) {
    while (!entries_.empty() && entries_.back().value <= value) entries_.pop_back();
    entries_.push_back({at, value});
    while (entries_.front().at < at - window_max) entries_.pop_front();
    if (entries_.size() <= entries_max) return;
    // The older of the two counts for longer than it should, which only delays a scale-in.
    entries_[1].value = entries_[0].value;
    entries_.pop_front();
}

std::optional<std::int64_t> RecentMax::within(Duration window, Instant now) const {
    const auto found = std::ranges::find_if(
        entries_, [&](const Entry& entry) { return entry.at >= now - window; });
    return found == entries_.end() ? std::nullopt : std::optional(found->value);
}

std::optional<Instant> RecentMax::last_above(std::int64_t value) const {
    const auto found = std::find_if(entries_.rbegin(), entries_.rend(),
                                    [&](const Entry& entry) { return entry.value > value; });
    return found == entries_.rend() ? std::nullopt : std::optional(found->at);
}

}  // namespace evenkeel::host
