// tidy: no test: tested by event_resource_test.cc
#include "door/admin/sent_events.h"

#include <limits>
#include <utility>

#include <boost/json.hpp>
#include <fmt/core.h>

#include "amqp/codec.h"
#include "base/base64.h"
#include "base/text.h"
#include "door/amqp/events.h"
#include "eventhubs/encoding.h"
#include "eventhubs/names.h"

namespace evenkeel::door {
namespace {

namespace json = boost::json;

Error wrong_event(std::size_t index, std::string_view why) {
    return {ErrorCode::invalid_argument, fmt::format("event {}: {}", index, why)};
}

std::string_view view(const json::string& text) {
    return {text.data(), text.size()};
}

std::string encoded(const EventData& event) {
    amqp::Buffer buffer;
    eventhubs::append_message(event, buffer);
    return std::string(as_text(ByteView(buffer)));
}

Result<Value> value_of(const json::value& given) {
    if (given.is_null()) return Value();
    if (given.is_bool()) return Value(given.get_bool());
    if (given.is_int64()) return Value(given.get_int64());
    if (given.is_uint64()) return Value(given.get_uint64());
    if (given.is_double()) return Value(given.get_double());
    if (given.is_string()) return Value(view(given.get_string()));
    return Error{ErrorCode::invalid_argument,
                 "properties must be texts, numbers, true, false or null"};
}

// A text; none if it is not there.
Result<std::optional<std::string_view>> text_in(const json::object& object, std::string_view key) {
    const auto* const found = object.if_contains({key.data(), key.size()});
    if (!found) return std::optional<std::string_view>();
    if (!found->is_string()) {
        return Error{ErrorCode::invalid_argument, std::string(key) + " must be a text"};
    }
    return std::optional(view(found->get_string()));
}

Result<SentEvent> parse_event(const json::value& given) {
    const auto* const object = given.if_object();
    if (!object) return Error{ErrorCode::invalid_argument, "it is not an object"};
    for (const auto& [key, value] : *object) {
        const std::string_view name{key.data(), key.size()};
        if (name == "body" || name == "body_base64" || name == "partition_key" ||
            name == "content_type" || name == "properties") {
            continue;
        }
        return Error{ErrorCode::invalid_argument, "nothing is known of '" + shown(name) + "'"};
    }
    SentEvent sent;
    EventData event;
    std::string decoded;
    EK_TRY_ASSIGN(const auto body, text_in(*object, "body"));
    EK_TRY_ASSIGN(const auto base64, text_in(*object, "body_base64"));
    if (body && base64) {
        return Error{ErrorCode::invalid_argument, "body conflicts with body_base64"};
    }
    if (base64) {
        auto bytes = base64_decoded(*base64);
        if (!bytes) return Error{ErrorCode::invalid_argument, "body_base64 is not base64"};
        decoded = std::move(*bytes);
    }
    event.body = base64 ? std::string_view(decoded) : body.value_or("");
    EK_TRY_ASSIGN(const auto key, text_in(*object, "partition_key"));
    EK_TRY(eventhubs::check_partition_key(key.value_or("")));
    sent.partition_key = key.value_or("");
    EK_TRY_ASSIGN(const auto type, text_in(*object, "content_type"));
    event.content_type = type.value_or("");
    std::vector<Property> properties;
    if (const auto* const found = object->if_contains("properties")) {
        if (!found->is_object()) {
            return Error{ErrorCode::invalid_argument, "properties must be an object"};
        }
        for (const auto& [name, value] : found->get_object()) {
            EK_TRY_ASSIGN(const Value each, value_of(value));
            properties.push_back({{name.data(), name.size()}, each});
        }
    }
    event.properties = properties;
    EK_TRY_ASSIGN(sent.message, storable(as_bytes(encoded(event))));
    return sent;
}

}  // namespace

Result<std::optional<CopyOf>> parse_copy_of(const std::string& body) {
    boost::system::error_code error;
    const json::value value = json::parse({body.data(), body.size()}, error);
    const auto* const object = error ? nullptr : value.if_object();
    const auto* const wish = object ? object->if_contains("copy_of") : nullptr;
    if (!wish) return std::optional<CopyOf>();
    const auto* const of = wish->if_object();
    const auto number = [&](std::string_view key, std::int64_t most) {
        const auto* const found = of->if_contains({key.data(), key.size()});
        const bool is_good =
            found && found->is_int64() && found->get_int64() >= 0 && found->get_int64() <= most;
        return is_good ? std::optional(found->get_int64()) : std::nullopt;
    };
    const Error wrong{ErrorCode::invalid_argument,
                      "copy_of must be an object with hub, partition and sequence_number, and "
                      "nothing beside it"};
    if (!of || of->size() != 3 || object->size() != 1) return wrong;
    EK_TRY_ASSIGN(const auto hub, text_in(*of, "hub"));
    const auto partition = number("partition", std::numeric_limits<std::int32_t>::max());
    const auto sequence = number("sequence_number", std::numeric_limits<std::int64_t>::max());
    if (!hub || !partition || !sequence) return wrong;
    return std::optional(
        CopyOf{std::string(*hub), {static_cast<std::uint32_t>(*partition)}, {*sequence}});
}

Result<SentEvents> parse_sent_events(const std::string& body, std::size_t events_max) {
    boost::system::error_code error;
    const json::value value = json::parse({body.data(), body.size()}, error);
    const auto* const object = error ? nullptr : value.if_object();
    const auto* const list = object ? object->if_contains("events") : nullptr;
    if (!list || !list->is_array()) {
        return Error{ErrorCode::invalid_argument,
                     "the body must be a JSON object with a list of events"};
    }
    SentEvents sent;
    const auto& events = list->get_array();
    if (events.empty() || events.size() > events_max) {
        return Error{ErrorCode::invalid_argument,
                     fmt::format("events must be 1 to {} events", events_max)};
    }
    for (const auto& [key, each] : *object) {
        if (key == "events") continue;
        if (key != "partition") {
            return Error{ErrorCode::invalid_argument,
                         "nothing is known of '" + shown({key.data(), key.size()}) + "'"};
        }
        const bool is_number = each.is_int64() && each.get_int64() >= 0 &&
                               each.get_int64() <= std::numeric_limits<std::int32_t>::max();
        if (!is_number) {
            return Error{ErrorCode::invalid_argument, "partition must be a number of a partition"};
        }
        sent.partition = PartitionId{static_cast<std::uint32_t>(each.get_int64())};
    }
    for (std::size_t i = 0; i < events.size(); ++i) {
        auto event = parse_event(events[i]);
        if (!event.ok()) return wrong_event(i, event.error().detail);
        if (sent.partition && !event->partition_key.empty()) {
            return wrong_event(i, "a partition_key conflicts with partition");
        }
        sent.events.push_back(std::move(*event));
    }
    return sent;
}

Result<std::string> storable(ByteView message) {
    Incoming incoming;
    EK_TRY(incoming.decode(message, 0));
    const ByteView stored = incoming.events().front().body;
    if (stored.empty()) return Error{ErrorCode::corrupt, "the event has no sections"};
    return std::string(as_text(stored));
}

std::string with_body(const Event& event, std::string_view body) {
    EventData data = event.data();
    std::vector<Property> properties;
    for (const Property& property : event.properties()) properties.push_back(property);
    data.properties = properties;
    data.body = body;
    return encoded(data);
}

}  // namespace evenkeel::door
