// Events that a client sends as JSON, as AMQP messages, and what may be stored of them. Pure.
//
//     {"events":[{"body":"text","partition_key":"k","content_type":"text/plain",
//                 "properties":{"n":7}}],"partition":3}
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
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

// A stored event that is to be stored once more.
struct CopyOf {
    std::string hub;
    PartitionId partition;
    SequenceNumber sequence;
};
//     {"copy_of":{"hub":"homes","partition":3,"sequence_number":17}}
// None if the body is no such wish. invalid_argument names the member that is wrong.
Result<std::optional<CopyOf>> parse_copy_of(const std::string& body);

// The message as it is stored, which is what comes in over AMQP too (door/amqp/events.h): `corrupt`
// if a reader could not decode it, or if there is nothing in it.
Result<std::string> storable(ByteView message);

// The same event with another body.
std::string with_body(const Event& event, std::string_view body);

}  // namespace evenkeel::door
