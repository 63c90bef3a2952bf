// Events that a client sends as JSON, as AMQP messages. Pure.
//
//     {"events":[{"body":"text","partition_key":"k","content_type":"text/plain",
//                 "properties":{"n":7}}],"partition":3}
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include <evenkeel/event.h>

namespace evenkeel::door {

struct SentEvent {
    std::string partition_key;
    std::string message;  // AMQP sections
};
struct SentEvents {
    std::vector<SentEvent> events;  // at least one
    std::optional<PartitionId> partition;
};
// invalid_argument names the event and the member that is wrong.
Result<SentEvents> parse_sent_events(const std::string& body, std::size_t events_max);

// The same event with another body.
std::string with_body(const Event& event, std::string_view body);

}  // namespace evenkeel::door
