// An event as it lies in a batch: a data section that holds a whole message.
#pragma once

#include "amqp/codec.h"
#include <evenkeel/producer.h>

namespace evenkeel::producer {

// Appends the section. The body has less than 4 GiB.
void append_event(const EventData& event, amqp::Buffer& to);
// Without its name.
void append_value(const Property& property, amqp::Encoder& encoder);

}  // namespace evenkeel::producer
