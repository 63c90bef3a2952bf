// Two kinds of time that never convert into each other.
//
//   Instant   monotonic, counts while the machine sleeps; for timeouts, leases, rates
//   WallTime  milliseconds since 1970 UTC; for display, enqueued times and retention; may step
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <string>

namespace evenkeel {

using Duration = std::chrono::nanoseconds;

struct Instant {
    std::int64_t nanoseconds = 0;
    auto operator<=>(const Instant&) const = default;
    Instant operator+(Duration duration) const { return {nanoseconds + duration.count()}; }
    Instant operator-(Duration duration) const { return {nanoseconds - duration.count()}; }
    Duration operator-(Instant other) const { return Duration(nanoseconds - other.nanoseconds); }
};

struct WallTime {
    std::int64_t milliseconds = 0;
    auto operator<=>(const WallTime&) const = default;
    WallTime operator+(std::chrono::milliseconds duration) const {
        return {milliseconds + duration.count()};
    }
    WallTime operator-(std::chrono::milliseconds duration) const {
        return {milliseconds - duration.count()};
    }
    std::chrono::milliseconds operator-(WallTime other) const {
        return std::chrono::milliseconds(milliseconds - other.milliseconds);
    }
};

// "2026-03-02T09:14:00.123Z"
std::string to_string(WallTime time);

class Clock {
public:
    virtual ~Clock() = default;
    virtual Instant now() const = 0;
    virtual WallTime wall() const = 0;
};

// The machine's own clocks. The steady one is CLOCK_BOOTTIME, so it counts suspend (OWN-10).
class SystemClock final : public Clock {
public:
    Instant now() const override;
    WallTime wall() const override;
};

}  // namespace evenkeel
