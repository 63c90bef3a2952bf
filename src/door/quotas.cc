#include "door/quotas.h"

#include <algorithm>

#include <fmt/core.h>

namespace evenkeel::door {

Quota::Quota(QuotaOptions options, Instant now)
    : options_(std::move(options)), throttle_(options_.rate, now) {}

void Quota::change(const QuotaOptions& options, Instant now) {
    if (options.rate != options_.rate) throttle_.change(options.rate, now);
    options_ = options;
}

std::string Quota::name() const {
    if (options_.key.empty() && options_.hub.empty()) return "namespace";
    if (options_.key.empty()) return fmt::format("event hub '{}'", options_.hub);
    if (options_.hub.empty()) return fmt::format("key '{}'", options_.key);
    return fmt::format("key '{}' at event hub '{}'", options_.key, options_.hub);
}

bool Quota::has_rate() const {
    return options_.rate != ThrottleOptions{};
}

Quotas::Quotas(const ThrottleOptions& whole, const std::vector<QuotaOptions>& quotas, Instant now) {
    change(whole, quotas, now);
}

void Quotas::change(const ThrottleOptions& whole, const std::vector<QuotaOptions>& quotas,
                    Instant now) {
    ++generation_;
    std::vector<QuotaOptions> wanted = quotas;
    wanted.insert(wanted.begin(), QuotaOptions{{}, {}, whole});
    std::vector<QuotaRef> next;
    for (QuotaOptions& options : wanted) {
        const auto known = std::find_if(quotas_.begin(), quotas_.end(), [&](const QuotaRef& each) {
            return each->options().key == options.key && each->options().hub == options.hub;
        });
        if (known == quotas_.end()) {
            next.push_back(std::make_shared<Quota>(std::move(options), now));
        } else {
            (*known)->change(options, now);
            next.push_back(*known);
        }
    }
    quotas_ = std::move(next);
}

std::vector<QuotaRef> Quotas::of(std::string_view key, std::string_view hub) const {
    std::vector<QuotaRef> found;
    for (const QuotaRef& each : quotas_) {
        const QuotaOptions& options = each->options();
        const bool fits = (options.key.empty() || options.key == key) &&
                          (options.hub.empty() || options.hub == hub);
        if (fits && each->has_rate()) found.push_back(each);
    }
    return found;
}

QuotaRef Quotas::of_key(std::string_view key) const {
    for (const QuotaRef& each : quotas_) {
        const QuotaOptions& options = each->options();
        if (options.connections_max > 0 && options.hub.empty() && !key.empty() &&
            options.key == key) {
            return each;
        }
    }
    return nullptr;
}

QuotaRef Quotas::of_hub(std::string_view hub) const {
    for (const QuotaRef& each : quotas_) {
        const QuotaOptions& options = each->options();
        if (options.connections_max > 0 && options.key.empty() && options.hub == hub) return each;
    }
    return nullptr;
}

std::optional<Excess> take(std::span<const QuotaRef> quotas, std::uint64_t events,
                           std::uint64_t bytes, Instant now) {
    for (const QuotaRef& each : quotas) {
        const auto empty = each->throttle().empty_bucket(now);
        if (!empty) continue;
        const ThrottleOptions& rate = each->options().rate;
        return Excess{each, *empty == Throttle::Bucket::events
                                ? fmt::format("events_per_second = {}", rate.events_per_second)
                                : fmt::format("bytes_per_second = {}", rate.bytes_per_second)};
    }
    for (const QuotaRef& each : quotas) each->throttle().charge(events, bytes);
    return std::nullopt;
}

}  // namespace evenkeel::door
