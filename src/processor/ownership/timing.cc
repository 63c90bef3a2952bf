#include "processor/ownership/timing.h"

#include <string>
#include <string_view>

#include <fmt/core.h>

namespace evenkeel::processor {

namespace {

using std::chrono::milliseconds;

// Clocks may run apart by so much: 200 millionths is what a bad oscillator does; we allow more, and
// some time for the step between the check of a lease and the act.
constexpr Duration lease_margin_min{milliseconds(100)};

std::string text(Duration duration) {
    return fmt::format("{} ms", std::chrono::duration_cast<milliseconds>(duration).count());
}

Error refused(std::string_view what) {
    return {ErrorCode::invalid_argument, fmt::format("timing: {}", what)};
}

}  // namespace

Timing standard_timing() {
    return {};
}

Timing fast_timing() {
    Timing timing;
    timing.heartbeat = milliseconds(850);
    timing.poll = milliseconds(850);
    timing.poll_fast = milliseconds(200);
    timing.dead = milliseconds(2550);
    timing.lease = milliseconds(2150);
    timing.by_exact_age = true;
    // One missed renewal of the slowest SDK: Python's come every 30 s, and up to a fifth later.
    timing.foreign_expiry = std::chrono::seconds(75);
    timing.unread_max = std::chrono::seconds(10);
    timing.request_max = milliseconds(5000);
    return timing;
}

// The looks keep one of our entries younger than the 60 s after which JavaScript's and Go's SDK
// take an owner for dead.
Timing thrifty_timing() {
    using std::chrono::seconds;
    Timing timing;
    timing.heartbeat = seconds(35);
    timing.poll = seconds(50);
    timing.poll_fast = seconds(1);
    timing.poll_fast_max = seconds(60);
    timing.dead = seconds(105);
    timing.lease = seconds(95);
    timing.unread_max = seconds(240);
    timing.is_thrifty = true;
    return timing;
}

std::string note_with_profile(std::string_view host, std::string_view profile) {
    return std::string(host) + " " + std::string(profile);
}

MemberNote read_note(std::string_view note) {
    const std::size_t at = note.rfind(' ');
    if (at != std::string_view::npos) {
        const std::string_view word = note.substr(at + 1);
        std::optional<Timing> timing;
        if (word == "fast") timing = fast_timing();
        if (word == "standard") timing = standard_timing();
        if (word == "thrifty") timing = thrifty_timing();
        if (timing) return {std::string(note.substr(0, at)), std::string(word), timing};
    }
    return {std::string(note)};
}

Result<> validate(const Timing& timing) {
    for (const Duration duration : {timing.heartbeat, timing.poll, timing.poll_fast, timing.dead,
                                    timing.lease, timing.leave_max, timing.request_max}) {
        if (duration < milliseconds(1)) {
            return refused(
                "heartbeat, poll, poll_fast, dead, lease, leave_max and request_max are at least "
                "1 ms");
        }
    }
    for (const Duration duration : {timing.settle, timing.settle_push, timing.ramp}) {
        if (duration < Duration(0)) return refused("settle, settle_push and ramp are not negative");
    }
    if (timing.dead < 3 * timing.heartbeat) {
        return refused(
            fmt::format("dead ({}) is less than three heartbeats ({} each): one late "
                        "heartbeat would look like death. Make it at least {}",
                        text(timing.dead), text(timing.heartbeat), text(3 * timing.heartbeat)));
    }
    if (timing.lease + lease_margin_min > timing.dead) {
        return refused(
            fmt::format("lease ({}) must end at least {} before dead ({}): an owner "
                        "stops before others may take over. Make it at most {}",
                        text(timing.lease), text(lease_margin_min), text(timing.dead),
                        text(timing.dead - lease_margin_min)));
    }
    if (timing.lease < 2 * timing.heartbeat) {
        return refused(
            fmt::format("lease ({}) is less than two heartbeats ({} each): one late "
                        "heartbeat would stop all reading. Make it at least {}",
                        text(timing.lease), text(timing.heartbeat), text(2 * timing.heartbeat)));
    }
    if (2 * timing.poll > timing.dead) {
        return refused(fmt::format("poll ({}) is longer than half of dead ({})", text(timing.poll),
                                   text(timing.dead)));
    }
    // Half of it to say so, and of the rest half to be seen: else all that lost the hub at once
    // would give to each other.
    if (timing.unread_max < 4 * timing.poll) {
        return refused(fmt::format("unread_max ({}) is less than four polls ({} each)",
                                   text(timing.unread_max), text(timing.poll)));
    }
    if (timing.poll_fast > timing.heartbeat) {
        return refused(fmt::format("poll_fast ({}) is longer than heartbeat ({})",
                                   text(timing.poll_fast), text(timing.heartbeat)));
    }
    if (timing.foreign_expiry < 3 * timing.heartbeat) {
        return refused(fmt::format("foreign_expiry ({}) is less than three heartbeats ({} each)",
                                   text(timing.foreign_expiry), text(timing.heartbeat)));
    }
    return {};
}

}  // namespace evenkeel::processor
