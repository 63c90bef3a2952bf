// Limits of the namespace, of event hubs and of keys: how much they take in each second, and how
// many connections they have. A message counts for every quota that it falls under, and is refused
// if one of them has nothing left; then it counts for none.
//
//     namespace             every message
//     key                   what came by a rule of that name
//     event hub             what came for it
//     key at an event hub   both
//
// A connection counts for a key while it has a good token of it, and for an event hub while it has
// a link there. Lowering a limit ends nobody who is there.
// Threads: pinned to the door's loop.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "door/throttle.h"

namespace evenkeel::door {

struct QuotaOptions {
    std::string key;  // name of a rule; empty: any
    std::string hub;  // folded; empty: any
    ThrottleOptions rate = {};
    std::uint32_t connections_max = 0;  // 0: no limit; for a key or a hub, not for both
    bool operator==(const QuotaOptions&) const = default;
};

class Quota {
public:
    Quota(QuotaOptions options, Instant now);

    const QuotaOptions& options() const { return options_; }
    // The same key and hub with other limits. Its buckets are full if the rates have changed.
    void change(const QuotaOptions& options, Instant now);
    // "namespace", "event hub 'orders'", "key 'app'", "key 'app' at event hub 'orders'".
    std::string name() const;
    bool has_rate() const;
    bool is_full() const {
        return options_.connections_max > 0 && connections_ >= options_.connections_max;
    }
    std::uint32_t connections() const { return connections_; }
    Throttle& throttle() { return throttle_; }

private:
    friend class Place;
    QuotaOptions options_;
    Throttle throttle_;
    std::uint32_t connections_ = 0;
};
using QuotaRef = std::shared_ptr<Quota>;

// One connection that counts for a quota, as long as this is there.
class Place {
public:
    explicit Place(QuotaRef quota) : quota_(std::move(quota)) { ++quota_->connections_; }
    ~Place() { --quota_->connections_; }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    const QuotaRef& quota() const { return quota_; }

private:
    const QuotaRef quota_;
};

// Why a message is refused: the quota, and its limit as the configuration has it.
struct Excess {
    QuotaRef quota;
    std::string limit;  // "events_per_second = 1000"
};

class Quotas {
public:
    Quotas(const ThrottleOptions& whole, const std::vector<QuotaOptions>& quotas, Instant now);

    // Those that stay keep count.
    void change(const ThrottleOptions& whole, const std::vector<QuotaOptions>& quotas, Instant now);
    // Rises with each change.
    std::uint64_t generation() const { return generation_; }
    // With limits on what comes in, for a message that came by that key for that hub. `key` is
    // empty if it was none of ours.
    std::vector<QuotaRef> of(std::string_view key, std::string_view hub) const;
    // With a limit on connections; none if there is no such.
    QuotaRef of_key(std::string_view key) const;
    QuotaRef of_hub(std::string_view hub) const;

private:
    std::vector<QuotaRef> quotas_;
    std::uint64_t generation_ = 1;
};

// Counts a message for all of them; or for none, and reports the first that has nothing left.
std::optional<Excess> take(std::span<const QuotaRef> quotas, std::uint64_t events,
                           std::uint64_t bytes, Instant now);

}  // namespace evenkeel::door
