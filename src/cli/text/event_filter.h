// `evenkeel read --filter`: a condition on an event, such as
//
//     body.total > 100 and key == 'c-881'
//     properties.kind contains "alarm" or not (partition == 3)
//     body.items[0].sku and enqueued >= '2026-03-09T10:00Z'
//
// Names are body, key, partition, seq, offset, size, enqueued, content_type and properties; members
// and elements of a JSON body are reached by .name, ["any name"] and [0]. Comparisons are == (or
// =),
// != < <= > >= and contains; a value alone holds if it is there and not false or null. Values of
// different kinds are never equal, and neither is the smaller one. A filter has 100 conditions at
// most.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/text/event_view.h"

namespace evenkeel::cli {

class EventFilter {
public:
    // `invalid_argument` says what is wrong, and where.
    static Result<EventFilter> parse(std::string_view text);

    ~EventFilter();
    EventFilter(EventFilter&&) noexcept;
    EventFilter& operator=(EventFilter&&) noexcept;

    bool matches(const EventPlace& place, const Event& event);
    // Events that were asked for a member of their body, which is no JSON.
    std::uint64_t bodies_without_json() const;

private:
    struct State;
    explicit EventFilter(std::unique_ptr<State> state);

    std::unique_ptr<State> state_;
};

// The same for a server that shows events: of one event hub, by partition.
Result<std::function<bool(std::uint32_t, const Event&)>> parse_filter_of_server(
    const std::string& hub, std::string_view text);

}  // namespace evenkeel::cli
