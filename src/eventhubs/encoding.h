// An event as a producer sends it: a data section of a batch that holds a whole AMQP message. Pure.
#pragma once

#include "amqp/codec.h"
#include <evenkeel/producer.h>

namespace evenkeel::eventhubs {

// Bytes of body, properties and ids as the user gave them. The encoded event is longer.
std::size_t content_bytes(const EventData& event);
// Appends the data section. content_bytes() must be less than 4 GiB.
void append_event(const EventData& event, amqp::Buffer& to);
// Appends the property's value, without its name.
void append_value(const Property& property, amqp::Encoder& encoder);

}  // namespace evenkeel::eventhubs
