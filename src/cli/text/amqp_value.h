// AMQP values by the names of their types, as text and as JSON: what `send --property` and JSON
// lines give, and what `read -o json` shows. Pure.
//
//   null bool ubyte ushort uint ulong byte short int long float double char
//   timestamp   milliseconds of Unix time, or RFC 3339
//   uuid        6ba7b810-9dad-11d1-80b4-00c04fd430c8
//   binary      base64
//   string symbol
//   amqp        any other value (a decimal, a list, ...): its encoding in base64
#pragma once

#include <string>
#include <string_view>

#include "amqp/codec.h"
#include "base/result.h"

namespace boost::json {
class value;
}

namespace evenkeel::cli {

struct TypedJson {
    std::string_view type;  // as above
    std::string json;
    // send() takes a JSON value for this type without being told the type.
    bool is_usual = false;
};
TypedJson typed_json(ByteView encoded_value);

// `text` in double quotes, escaped. What is not UTF-8 in it is replaced.
std::string json_quoted(std::string_view text);

// Appends the encoded value. `invalid_argument` names the types, or says what is wrong with the
// text; neither the text nor more than 64 bytes of the type are repeated in it.
Result<> append_typed(std::string_view type, std::string_view text, amqp::Buffer& to);
// The same for a JSON value. An empty type is the usual one: string, bool, null, long for whole
// numbers (ulong if it is larger), double for others.
Result<> append_typed(std::string_view type, const boost::json::value& value, amqp::Buffer& to);

}  // namespace evenkeel::cli
