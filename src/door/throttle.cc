#include "door/throttle.h"

#include <algorithm>

namespace evenkeel::door {

Throttle::Throttle(const ThrottleOptions& options, Instant now)
    : options_(options),
      filled_(now),
      events_(static_cast<double>(options.events_per_second)),
      bytes_(static_cast<double>(options.bytes_per_second)) {}

void Throttle::change(const ThrottleOptions& options, Instant now) {
    *this = Throttle(options, now);
}

void Throttle::refill(Instant now) {
    const double seconds = std::chrono::duration<double>(now - filled_).count();
    filled_ = now;
    const auto events = static_cast<double>(options_.events_per_second);
    const auto bytes = static_cast<double>(options_.bytes_per_second);
    events_ = std::min(events, events_ + seconds * events);
    bytes_ = std::min(bytes, bytes_ + seconds * bytes);
}

std::optional<Throttle::Bucket> Throttle::empty_bucket(Instant now) {
    refill(now);
    if (options_.events_per_second > 0 && events_ <= 0) return Bucket::events;
    if (options_.bytes_per_second > 0 && bytes_ <= 0) return Bucket::bytes;
    return std::nullopt;
}

void Throttle::charge(std::uint64_t events, std::uint64_t bytes) {
    events_ -= static_cast<double>(events);
    bytes_ -= static_cast<double>(bytes);
}

bool Throttle::take(std::uint64_t events, std::uint64_t bytes, Instant now) {
    if (empty_bucket(now)) return false;
    charge(events, bytes);
    return true;
}

}  // namespace evenkeel::door
