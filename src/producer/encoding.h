// An event as it lies in a batch: a data section that holds a whole message.
#pragma once

#include "amqp/codec.h"
#include <evenkeel/producer.h>

namespace evenkeel::producer {

// Of all that the user gave, before it is encoded, which makes it longer.
std::size_t content_bytes(const EventData& event);
// Appends the section. The content has less than 4 GiB: so has each of its values.
void append_event(const EventData& event, amqp::Buffer& to);
// Without its name.
void append_value(const Property& property, amqp::Encoder& encoder);

}  // namespace evenkeel::producer
