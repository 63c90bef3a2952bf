// The body of an event: one AMQP data section (descriptor 0x75), written and found without decoding
// the rest of the message. amqp/message.h reads all sections. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"

namespace evenkeel::eventhubs {

// How many bytes append_data_section() adds for a body of that size.
std::size_t data_section_bytes(std::size_t body_bytes);
void append_data_section(std::string_view body, std::string& to);

// The bytes of the first data section; empty if there is none, or if the sections are malformed
// before it.
ByteView first_data_section(ByteView sections);

}  // namespace evenkeel::eventhubs
