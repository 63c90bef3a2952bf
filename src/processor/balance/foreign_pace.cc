#include "processor/balance/foreign_pace.h"

#include <algorithm>

namespace evenkeel::processor {

namespace {

// Ages may be cut to whole seconds.
constexpr Duration age_error{std::chrono::milliseconds(1500)};
constexpr int intervals_to_death = 6;

}  // namespace

void ForeignPace::observe(const std::map<std::string, Duration>& youngest, Instant now) {
    std::erase_if(owners_, [&](const auto& owner) { return !youngest.contains(owner.first); });
    for (const auto& [id, age] : youngest) {
        const auto [entry, is_new] = owners_.try_emplace(id);
        Owner& owner = entry->second;
        if (!is_new && age + age_error < owner.age + (now - owner.seen)) {
            owner.interval = std::max(owner.interval, owner.age);
            owner.renewals = std::min(owner.renewals + 1, renewals_min);
        }
        owner.age = age;
        owner.seen = now;
    }
}

Duration ForeignPace::renewal(const Timing& timing) const {
    Duration interval = timing.foreign_renewal_max;
    for (const auto& [id, owner] : owners_) {
        if (owner.renewals < renewals_min) return timing.foreign_renewal;
        interval = std::min(interval, owner.interval);
    }
    return std::clamp(2 * interval, timing.foreign_renewal, timing.foreign_renewal_max);
}

Duration ForeignPace::expiry(const std::string& owner, const Timing& timing) const {
    const auto known = owners_.find(owner);
    if (known == owners_.end() || known->second.renewals < renewals_min) {
        return timing.foreign_expiry;
    }
    return std::clamp(intervals_to_death * known->second.interval,
                      std::min(timing.foreign_expiry_min, timing.foreign_expiry),
                      timing.foreign_expiry);
}

}  // namespace evenkeel::processor
