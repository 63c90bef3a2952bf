// An event as one JSON object: what `read -o json` prints and `send --ndjson` takes, with the same
// meaning both ways. docs/cli.md has the members.
//
//   {"event_hub":"eh1","partition":2,"sequence_number":3,"offset":192,"enqueued_at":"...",
//    "partition_key":"k","content_type":"text/plain","properties":{"n":7},
//    "property_types":{"n":"int"},"body":"hello"}
//
// What these members cannot say (a value or sequence as body, several data sections, annotations
// and a footer of the sender's) is said by one more, `amqp_base64`: the whole message. Then that is
// what is sent.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "amqp/codec.h"
#include "base/result.h"
#include "cli/text/event_view.h"
#include <evenkeel/event.h>

namespace boost::json {
class value;
}

namespace evenkeel::cli {

// The sections of an event that the user fills in; all values are encoded.
struct EventParts {
    static constexpr std::size_t fields_max = 13;
    static constexpr std::size_t content_type_field = 6;
    struct Named {
        std::string name;
        amqp::Buffer value;
    };

    std::array<amqp::Buffer, fields_max> fields;  // of the AMQP properties; empty: none
    std::vector<Named> properties;                // the application's
    std::string body;

    void set_content_type(std::string_view type);
    // In place of one with the same name.
    void set_property(std::string name, amqp::Buffer value);
    // The AMQP message.
    amqp::Buffer message() const;
};

// An event that was given as a JSON object.
struct GivenEvent {
    EventParts parts;
    amqp::Buffer whole;  // of amqp_base64, instead of the parts; empty: the parts
    std::optional<std::uint32_t> partition;
    std::string partition_key;
};

// One JSON object, without a line end.
std::string as_json(const EventPlace& place, const Event& event);

// Whether it looks like what as_json() writes: it says where the event was stored, and its body.
bool is_event_json(const boost::json::value& value);
// `invalid_argument` names the member that is wrong. Members that are not known are refused, unless
// the object is_event_json(): then another program has added them.
Result<GivenEvent> event_from_json(const boost::json::value& value);

}  // namespace evenkeel::cli
