// Events as JSON, as docs/admin-api.md has it: what the hub stored, with the body as JSON text,
// text or base64. Pure: bytes that are no text become base64, and nothing fails.
#pragma once

#include <cstdint>

#include "dashboard/json_writer.h"
#include <evenkeel/event.h>

namespace evenkeel::dashboard {

enum class BodyLength : std::uint8_t { cut, whole };
inline constexpr std::size_t body_shown_max = std::size_t{64} << 10;

// Members of an object that the caller has begun.
void write_event(JsonWriter& json, std::uint32_t partition, const Event& event, BodyLength length);
// "sections":[{"name","hex"}]
void write_sections(JsonWriter& json, const Event& event);
// Numbers, texts and booleans as such; everything else as text.
void write_value(JsonWriter& json, const Value& value);

}  // namespace evenkeel::dashboard
