#include "processor/ownership/renewals.h"

#include <algorithm>
#include <utility>

namespace evenkeel::processor {

bool Renewals::set_foreign(const View& view) {
    const bool had_foreign = std::exchange(
        has_foreign_, std::any_of(view.members.begin(), view.members.end(),
                                  [](const ViewMember& member) { return member.is_foreign; }));
    return has_foreign_ && !had_foreign;
}

Duration Renewals::look_period() const {
    return has_foreign_ ? std::min(timing_.poll, period()) : timing_.poll;
}

Duration Renewals::period() const {
    const Duration own = timing_.foreign_expiry * 3 / 8;
    if (has_foreign_) return std::min(own, pace_.renewal(timing_));
    return timing_.is_thrifty ? timing_.poll : own;
}

bool Renewals::is_due(const Holding& holding, const Holdings& holdings, Instant now) const {
    // The next look may be too late.
    if (now - holding.renewed + look_period() / 2 < period()) return false;
    if (has_foreign_ || !timing_.is_thrifty) return true;
    // One stands for all: the youngest, and of these the first.
    const auto& held = holdings.all();
    return std::all_of(held.begin(), held.end(), [&](const auto& entry) {
        return entry.second.renewed < holding.renewed ||
               (entry.second.renewed == holding.renewed && entry.first >= holding.entry.partition);
    });
}

}  // namespace evenkeel::processor
