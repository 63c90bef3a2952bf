// A public Value from its encoding, and back. Pure; allocates nothing.
#pragma once

#include "amqp/codec.h"
#include "base/bytes.h"
#include <evenkeel/event.h>

namespace evenkeel::eventhubs {

// `encoded` is one AMQP value; null if it is empty or not all there.
Value decode_value(ByteView encoded);
void append_value(const Value& value, amqp::Encoder& encoder);
// Bytes of the value as the user gave it; its encoding is at least as long.
std::size_t content_bytes(const Value& value);

}  // namespace evenkeel::eventhubs
