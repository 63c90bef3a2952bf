// The bodies of events as the parameter of a function, by cardinality and dataType. Pure.
//
//     one   text: a string          binary: bytes
//     many  automatic: JSON values  text: strings    binary: a list of bytes
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "host/app.h"
#include <evenkeel/processor.h>

namespace evenkeel::host {

enum class Shape : std::uint8_t { text, bytes, values, texts, byte_list };
Shape shape_of(const Function& function);

// How deep JSON of events and of functions may be: deeper than the files of an app, for which 32 is
// plenty. What is deeper is text, or a wrong answer.
inline constexpr std::size_t json_depth_max = 256;

struct JsonBodies {
    std::string array;           // one JSON text
    std::uint64_t not_json = 0;  // events whose body became a JSON string
};
// Each body as the JSON value that it is. One that is not JSON becomes a JSON string, so that no
// event is lost; if `strict`, it fails all of them with `handler_failed`, as in Azure.
Result<JsonBodies> json_bodies(Events events, bool strict);
// Bodies as JSON strings: of their text, or of their bytes as base64.
std::string text_bodies(Events events);
std::string byte_bodies(Events events);

}  // namespace evenkeel::host
