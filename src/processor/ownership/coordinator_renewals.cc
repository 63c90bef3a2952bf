// When a coordinator looks at the group, and which of its entries it writes again though nothing
// changed: for itself hardly ever, but processors of other SDKs go by the age of entries.
// tidy: no test: coordinator_test.cc and tests/sim run it
#include <algorithm>

#include "processor/ownership/coordinator_core.h"

namespace evenkeel::processor {

namespace {

constexpr int slow_listing_heartbeats = 10;  // ownerships are listed at least so seldom

}  // namespace

bool Coordinator::Core::ownerships_due(Instant now) const {
    return relist_ || !has_listed_ownerships_ || is_fast(now) || has_foreign_ ||
           options_.may_be_mixed ||
           now - ownerships_listed_ >= slow_listing_heartbeats * timing_.heartbeat;
}

Duration Coordinator::Core::look_period() const {
    return has_foreign_ ? std::min(timing_.poll, renewal_period()) : timing_.poll;
}

Duration Coordinator::Core::renewal_period() const {
    const Duration own = timing_.foreign_expiry * 3 / 8;
    if (has_foreign_) return std::min(own, foreign_pace_.renewal(timing_));
    return timing_.is_thrifty ? timing_.poll : own;
}

std::optional<Coordinator::Core::Write> Coordinator::Core::renewal(const Holding& holding,
                                                                   Instant now) const {
    const PartitionId partition = holding.entry.partition;
    if (holding.is_handing_over || ownerships_.is_writing(partition) || now < holding.not_before ||
        hand_overs_.contains(partition)) {
        return {};
    }
    Write write{holding.entry, Kind::renew, {}};
    if (!holding.is_verified) {
        if (phase_ == Phase::leaving) return {};
        write.kind = Kind::verify;
        // Whoever is cut again and again may face an epoch that is far ahead.
        write.entry.epoch.value += holding.fences > 1 ? std::int64_t{1} << holding.fences : 1;
        write.entry.since_ms = loop_.clock().wall().milliseconds;
        return write;
    }
    if (!is_due(holding, now)) return {};
    if (options_.load) {
        const auto load = loads_.find(partition);
        if (load != loads_.end()) write.entry.load = load->second;
    }
    return write;
}

bool Coordinator::Core::is_due(const Holding& holding, Instant now) const {
    // After a lapse that the reader has survived.
    if (heartbeat_.lease().is_valid(now) && !is_covered(holding, now)) return true;
    if (options_.load && is_load_due(holding, now)) return true;
    // The next look may be too late.
    if (now - holding.renewed + look_period() / 2 < renewal_period()) return false;
    if (has_foreign_ || !timing_.is_thrifty) return true;
    // One stands for all: the youngest, and of these the first.
    const auto& held = holdings_.all();
    return std::all_of(held.begin(), held.end(), [&](const auto& entry) {
        return entry.second.renewed < holding.renewed ||
               (entry.second.renewed == holding.renewed && entry.first >= holding.entry.partition);
    });
}

}  // namespace evenkeel::processor
