// The greatest of the numbers that were noted within the last minutes. Entries that a later and
// greater one hides are dropped, so a falling number takes the most room: entries_max.
// Threads: a value.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "base/clock.h"

namespace evenkeel::host {

class RecentMax {
public:
    static constexpr Duration window_max = std::chrono::minutes(30);
    static constexpr std::size_t entries_max = 1024;

    // `at` does not go back.
    void note(std::int64_t value, Instant at);
    void forget() { entries_.clear(); }

    // None if nothing was noted within `window` before `now`.
    std::optional<std::int64_t> within(Duration window, Instant now) const;
    // When the last number above `value` was noted; none if there is none.
    std::optional<Instant> last_above(std::int64_t value) const;

private:
    struct Entry {
        Instant at;
        std::int64_t value;
    };
    std::deque<Entry> entries_;  // times rise, values fall
};

}  // namespace evenkeel::host
