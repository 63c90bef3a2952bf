// AMQP messages as sections: taking them apart without decoding, and building the small ones that
// nodes such as $cbs and $management answer with.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "amqp/codec.h"
#include "base/result.h"

namespace evenkeel::amqp {

inline constexpr std::uint32_t batch_format = 0x80013700;  // Event Hubs: one data section an event

// A reader of ours asks for reports of events that the hub cannot read; others just do not get
// them.
inline constexpr std::string_view damage_capability = "evenkeel:report-damage";

// One section: what kind, its value's encoding, and all of it with the descriptor.
struct Section {
    std::uint64_t kind = 0;
    ByteView value;
    ByteView whole;
};

// The section that begins `bytes`, which is moved on behind it. A bare map, which one SDK writes
// where annotations belong, counts as message annotations. `corrupt` if there is no section there.
Result<Section> next_section(ByteView& bytes);

// The content of the data section that begins `bytes`, which is moved on behind it, if it is
// written as nearly all are; else nothing, and next_section() knows.
std::optional<ByteView> cut_usual_data(ByteView& bytes);

// Calls `visit(key, value)` for each pair of an encoded map whose key is a symbol or string, the
// value still encoded. False if the map is malformed.
template <typename Visit>
bool for_each_pair(ByteView map, Visit visit) {
    Decoder decoder(map);
    auto pairs = decoder.map();
    if (!pairs) return map.empty();
    while (pairs->remaining() > 0 && !pairs->failed()) {
        const bool is_text = pairs->peek() == code::symbol8 || pairs->peek() == code::symbol32 ||
                             pairs->peek() == code::string8 || pairs->peek() == code::string32;
        std::optional<std::string_view> key;
        is_text ? key = pairs->text() : (pairs->value(), key = std::nullopt);
        const ByteView value = pairs->value();
        if (!pairs->failed() && key) visit(*key, value);
    }
    return !pairs->failed();
}

// The pair with that key as an integer or text; none if it is missing or of another type.
std::optional<std::int64_t> integer_in(ByteView map, std::string_view key);
std::optional<std::string_view> text_in(ByteView map, std::string_view key);

// What a request to a node looks like.
struct Request {
    ByteView message_id;  // encoded, of whatever type; empty if none
    std::string reply_to;
    ByteView properties;  // application properties, an encoded map
    std::string text;     // of an amqp-value body that is a string
};
Result<Request> decode_request(ByteView message);

// Properties with the request's id as correlation id, application properties, and a body.
// `application_properties` and `body` are encoded values; an empty body is left out.
void encode_response(ByteView correlation_id, ByteView application_properties, ByteView body,
                     Buffer& to);

}  // namespace evenkeel::amqp
