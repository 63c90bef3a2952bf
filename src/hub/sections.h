// Bytes as an AMQP message and back, as far as an embedded hub needs it: an event's body is one
// data section (descriptor 0x75). The AMQP engine proper is in amqp/.
#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"

namespace evenkeel::hub {

// How many bytes append_data_section() adds for a body of that size.
std::size_t data_section_bytes(std::size_t body_bytes);
void append_data_section(std::string_view body, std::string& to);

// The bytes of the first data section; empty if there is none, or if the sections are malformed
// before it.
ByteView first_data_section(ByteView sections);

}  // namespace evenkeel::hub
