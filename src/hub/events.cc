// tidy: no test: hub_test.cc and embedded_source_test.cc read through it
#include "hub/events.h"

#include <memory>
#include <utility>
#include <vector>

#include "base/time_point.h"

namespace evenkeel::hub {

EventBatch take_events(commitlog::Slice& left, std::size_t events_max) {
    std::vector<Event> events;
    std::size_t bytes = 0;
    for (const commitlog::Record& record : left) {
        if (events.size() == events_max) break;
        Event& event = events.emplace_back();
        event.sequence_number = record.sequence.value;
        event.offset = record.offset.value;
        event.enqueued_time = time_point(record.enqueued);
        event.partition_key = as_text(record.key);
        event.sections = record.body;
        bytes += commitlog::stored_bytes(record);
    }
    std::vector<std::shared_ptr<const void>> owners{left.owner()};
    left = left.without_first(bytes);
    return {std::move(events), std::move(owners)};
}

}  // namespace evenkeel::hub
