// Executions as tests need them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "host/handler/handler.h"

namespace evenkeel::host {

// Events of one partition and the function that gets them; lives as long as its invocation.
class GivenEvents {
public:
    GivenEvents(Function function, const std::vector<EventData>& events,
                const EventBatchOptions& options = {})
        : function_(std::move(function)), batch_(EventBatch::of(events, options)) {}

    Invocation invocation(std::uint32_t attempt = 0) const {
        return {.function = function_,
                .id = "8c1f0a52-0000-4000-8000-000000000001",
                .host_name = "localhost",
                .partition = 3,
                .events = batch_.events(),
                .attempt = attempt};
    }
    Function& function() { return function_; }

private:
    Function function_;
    EventBatch batch_;
};

inline Function a_function(Cardinality cardinality, DataType type = DataType::automatic) {
    return {.name = "many",
            .trigger = "events",
            .event_hub = "homes",
            .consumer_group = "agg",
            .cardinality = cardinality,
            .data_type = type};
}

}  // namespace evenkeel::host
