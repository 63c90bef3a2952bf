// An event as a producer sends it: a data section of a batch that holds a whole AMQP message. Pure.
#pragma once

#include "amqp/codec.h"
#include <evenkeel/event.h>

namespace evenkeel::eventhubs {

// Bytes of body, properties and ids as the user gave them. The encoded event is longer.
std::size_t content_bytes(const EventData& event);
// Appends the data section. content_bytes() must be less than 4 GiB.
void append_event(const EventData& event, amqp::Buffer& to);
// Appends the message alone.
void append_message(const EventData& event, amqp::Buffer& to);

}  // namespace evenkeel::eventhubs
