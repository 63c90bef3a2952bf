// An event as it is sent on: body and properties as they came, with more application properties;
// what a hub wrote into its annotations stays behind. Pure.
#pragma once

#include <span>

#include "amqp/codec.h"
#include "base/bytes.h"
#include <evenkeel/producer.h>

namespace evenkeel::source {

// A property of the event with the name of one of ours gives way. Sections that cannot be read
// become the body as they are: nothing is lost.
amqp::Buffer with_properties(ByteView sections, std::span<const Property> properties);

}  // namespace evenkeel::source
