// The events of one page, collected partition by partition: the first ones in the order of the
// page, as many as fit. Pure. Threads: a value.
//
//     forwards   by time, the oldest first      backwards   the newest first
//
// What does not fit goes back to its partition, for the next page. Nothing that comes behind an
// event that went back is taken any more, so a page never leaves out an event in its middle.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace evenkeel::dashboard {

struct BrowsePlaceInTime {
    std::int64_t enqueued_ms = 0;
    std::uint32_t partition = 0;
    std::int64_t sequence = 0;
    auto operator<=>(const BrowsePlaceInTime&) const = default;
};

struct BrowsedEvent {
    BrowsePlaceInTime place;
    std::string json;
};

class BrowsePage {
public:
    struct Options {
        bool is_backwards = false;
        std::size_t events_max = 0;
        std::size_t bytes_max = 0;  // of JSON; a page has one event at least
    };
    explicit BrowsePage(const Options& options) : options_(options) {}

    // False for an event that comes behind one that went back.
    bool may_take(const BrowsePlaceInTime& place) const { return !end_ || is_before(place, *end_); }
    // Takes events of one partition; returns those that do not fit, of this and other partitions.
    std::vector<BrowsedEvent> take(std::vector<BrowsedEvent> events);
    const std::vector<BrowsedEvent>& events() const { return events_; }
    // Something went back.
    bool is_full() const { return end_.has_value(); }

private:
    bool is_before(const BrowsePlaceInTime& a, const BrowsePlaceInTime& b) const {
        return options_.is_backwards ? a > b : a < b;
    }

    const Options options_;
    std::vector<BrowsedEvent> events_;      // in the order of the page
    std::optional<BrowsePlaceInTime> end_;  // the first that went back
};

}  // namespace evenkeel::dashboard
