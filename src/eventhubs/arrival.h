// The reader's side of the dialect: where reading starts, as a filter of the link, and the event in
// a delivered message. Pure.
#pragma once

#include <optional>
#include <string>

#include "amqp/performatives.h"
#include "base/bytes.h"
#include "base/result.h"
#include <evenkeel/consumer.h>
#include <evenkeel/event.h>

namespace evenkeel::eventhubs {

// "amqp.annotation.x-opt-offset > '-1'"
std::string filter_of(const Position& position);

// The source of a receiver link, with its filter.
amqp::Terminus source_of(std::string_view address, const Position& position);

// The link properties of a reader.
amqp::Buffer reader_properties(const RemoteReaderOptions& options);

struct Arrival {
    Event event;  // views of `message`
    std::optional<LastEnqueued> last_enqueued;
};

// The usual layout, as our hub and Azure send it: one map of annotations in front, with the types
// and sizes that they always have. Several times as fast as decode_arrival(). Returns false for any
// other layout; `event` is then unspecified.
bool decode_usual_arrival(ByteView message, Event& event);

// Any layout. `corrupt` if the message lacks what every delivered event has.
Result<Arrival> decode_arrival(ByteView message);

}  // namespace evenkeel::eventhubs
