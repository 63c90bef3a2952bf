#include "cli/text/event_json.h"

#include <algorithm>
#include <set>

#include <boost/json.hpp>
#include <fmt/core.h>

#include "amqp/grammar.h"
#include "amqp/message.h"
#include "amqp/performatives.h"
#include "base/base64.h"
#include "base/clock.h"
#include "base/text.h"
#include "base/time_point.h"
#include "base/utf8.h"
#include "cli/text/amqp_value.h"
#include "cli/text/duration.h"
#include "eventhubs/forward.h"
#include "eventhubs/names.h"
#include "eventhubs/wire_names.h"

namespace evenkeel::cli {
namespace {

namespace descriptor = amqp::descriptor;
using amqp::Buffer;
using boost::json::object;
using boost::json::value;

// The fields of the properties section, in their order.
struct Field {
    std::string_view name;
    std::string_view type;
    std::string_view type_name = {};  // the member that names another type
};
constexpr std::array<Field, EventParts::fields_max> field_list = {{
    {"message_id", "string", "message_id_type"},
    {"user_id_base64", "binary"},
    {"to", "string"},
    {"subject", "string"},
    {"reply_to", "string"},
    {"correlation_id", "string", "correlation_id_type"},
    {"content_type", "symbol"},
    {"content_encoding", "symbol"},
    {"absolute_expiry_time", "timestamp"},
    {"creation_time", "timestamp"},
    {"group_id", "string"},
    {"group_sequence", "uint"},
    {"reply_to_group_id", "string"},
}};
constexpr std::array<std::string_view, 5> place_members = {
    "event_hub", "partition", "sequence_number", "offset", "enqueued_at"};
constexpr std::array<std::string_view, 8> other_members = {
    "partition_key", "properties", "property_types", "body",
    "body_base64",   "body_value", "body_type",      "amqp_base64"};

Error wrong_member(std::string_view name, std::string_view why) {
    return {ErrorCode::invalid_argument, fmt::format("'{}' is {}", shown(name), why)};
}

std::string_view text_of(const value& member) {
    return {member.get_string().data(), member.get_string().size()};
}

bool tells_place(const object& members) {
    const auto has = [&](std::string_view name) {
        return members.contains(boost::json::string_view(name.data(), name.size()));
    };
    return std::ranges::all_of(place_members, has) &&
           (has("body") || has("body_base64") || has("amqp_base64"));
}

// The sections of an event, as JSON members; `exact` is whether they say all of it.
class MemberWriter {
public:
    void take(ByteView sections) {
        for (ByteView rest = sections; !rest.empty();) {
            const auto section = amqp::next_section(rest);
            if (!section.ok()) {
                exact = false;
                return;
            }
            take(*section);
        }
        if (bodies_ != 1) exact = false;
    }

    std::string fields;
    std::string properties;
    std::string body_value;
    bool exact = true;

private:
    void take(const amqp::Section& section) {
        switch (section.kind) {
            case descriptor::header:
            case descriptor::delivery_annotations: break;  // of the way here
            case descriptor::message_annotations: take_annotations(section.value); break;
            case descriptor::properties: take_fields(section.value); break;
            case descriptor::application_properties: take_properties(section.value); break;
            case descriptor::data: ++bodies_; break;
            default:
                exact = false;
                if (section.kind == descriptor::value) take_value(section.value);
        }
    }

    void take_annotations(ByteView map) {
        amqp::Decoder decoder(map);
        auto pairs = decoder.map();
        while (pairs && pairs->remaining() > 0 && !pairs->failed()) {
            const ByteView key = pairs->value();
            pairs->value();
            const auto name = amqp::Decoder(key).text();
            const bool is_dropped = name && (eventhubs::is_hub_annotation(*name) ||
                                             eventhubs::is_producer_annotation(*name));
            if (!is_dropped) exact = false;
        }
    }

    void take_fields(ByteView list) {
        amqp::Decoder decoder(list);
        auto values = decoder.list();
        for (const Field& field : field_list) {
            const ByteView encoded = values ? values->value() : ByteView();
            if (encoded.empty()) break;
            const TypedJson typed = typed_json(encoded);
            if (typed.type == "null") continue;
            const bool is_usual = typed.type == field.type;
            if (!is_usual && field.type_name.empty()) exact = false;
            std::string json = typed.json;
            if (typed.type == "timestamp") json = time_json(encoded, json);
            fields += fmt::format("\"{}\":{},", field.name, json);
            if (!is_usual && !field.type_name.empty()) {
                fields += fmt::format("\"{}\":\"{}\",", field.type_name, typed.type);
            }
        }
        if (!values || values->failed() || values->remaining() > 0) exact = false;
    }

    // RFC 3339, unless that does not say it exactly.
    static std::string time_json(ByteView encoded, const std::string& milliseconds) {
        const auto time = amqp::Decoder(encoded).integer();
        if (!time || *time < 0 || *time > 253'402'300'799'999) return milliseconds;
        return json_quoted(to_string(WallTime{*time}));
    }

    void take_properties(ByteView map) {
        amqp::Decoder decoder(map);
        auto pairs = decoder.map();
        std::string values, types;
        std::set<std::string_view> names;
        while (pairs && pairs->remaining() > 0 && !pairs->failed()) {
            const bool is_string =
                pairs->peek() == amqp::code::string8 || pairs->peek() == amqp::code::string32;
            const ByteView key = pairs->value();
            const ByteView encoded = pairs->value();
            if (pairs->failed()) break;
            const auto name = amqp::Decoder(key).text();
            if (!name || !is_string || !is_utf8(*name) || !names.insert(*name).second) {
                exact = false;
            }
            if (!name) continue;
            const TypedJson typed = typed_json(encoded);
            const bool is_text = typed.type == "string" || typed.type == "symbol";
            if (is_text && !is_utf8(amqp::Decoder(encoded).text().value_or(""))) exact = false;
            values +=
                fmt::format("{}{}:{}", values.empty() ? "" : ",", json_quoted(*name), typed.json);
            if (typed.is_usual || (is_text && typed.type == "string")) continue;
            types += fmt::format("{}{}:\"{}\"", types.empty() ? "" : ",", json_quoted(*name),
                                 typed.type);
        }
        if (!values.empty()) properties += fmt::format("\"properties\":{{{}}},", values);
        if (!types.empty()) properties += fmt::format("\"property_types\":{{{}}},", types);
    }

    void take_value(ByteView encoded) {
        const TypedJson typed = typed_json(encoded);
        body_value = fmt::format("\"body_value\":{},\"body_type\":\"{}\",", typed.json, typed.type);
    }

    int bodies_ = 0;
};

// Takes a JSON object apart.
class MemberReader {
public:
    explicit MemberReader(const object& members) : members_(members) {}

    Result<GivenEvent> read() {
        EK_TRY(check_names());
        EK_TRY(read_place());
        EK_TRY(read_whole());
        if (event_.whole.empty()) {
            for (std::size_t i = 0; i < field_list.size(); ++i) EK_TRY(read_field(i));
            EK_TRY(read_properties());
            EK_TRY(read_body());
        }
        EK_TRY(check_grammar());
        return std::move(event_);
    }

private:
    // Not one that is null: that is as if it were not there.
    const value* find(std::string_view name) const {
        const auto* member =
            members_.if_contains(boost::json::string_view(name.data(), name.size()));
        return member && !member->is_null() ? member : nullptr;
    }
    Result<std::string_view> text(std::string_view name, const value& member) const {
        if (!member.is_string()) return wrong_member(name, "not a string");
        return text_of(member);
    }

    Result<> check_names() const {
        if (tells_place(members_)) return {};
        for (const auto& member : members_) {
            const std::string_view name(member.key().data(), member.key().size());
            const auto is = [&](std::string_view known) { return known == name; };
            const bool is_known =
                std::ranges::any_of(place_members, is) || std::ranges::any_of(other_members, is) ||
                std::ranges::any_of(field_list, [&](const Field& field) {
                    return is(field.name) || (!field.type_name.empty() && is(field.type_name));
                });
            if (!is_known) {
                return wrong_member(name, "not a member of an event; see 'evenkeel send --help'");
            }
        }
        return {};
    }

    Result<> read_place() {
        if (const value* key = find("partition_key")) {
            EK_TRY_ASSIGN(const auto given, text("partition_key", *key));
            event_.partition_key = given;
            EK_TRY(eventhubs::check_partition_key(event_.partition_key));
        }
        if (const value* partition = find("partition")) {
            boost::system::error_code error;
            const auto number = partition->to_number<std::uint32_t>(error);
            if (error) return wrong_member("partition", "not the number of a partition");
            event_.partition = number;
        }
        return {};
    }

    Result<> read_whole() {
        const value* member = find("amqp_base64");
        if (!member) return {};
        EK_TRY_ASSIGN(const auto given, text("amqp_base64", *member));
        const auto bytes = base64_decoded(given);
        if (!bytes) return wrong_member("amqp_base64", "not base64");
        const ByteView view = as_bytes(*bytes);
        event_.whole.assign(view.begin(), view.end());
        return {};
    }

    Result<> read_field(std::size_t index) {
        const Field& field = field_list[index];
        const value* member = find(field.name);
        if (!member) return {};
        std::string_view type = field.type;
        if (!field.type_name.empty()) {
            // AMQP has four types for an id, and JSON's numbers can only be one of them.
            if (member->is_number()) type = "ulong";
            if (const value* named = find(field.type_name)) {
                EK_TRY_ASSIGN(type, text(field.type_name, *named));
                if (type != "string" && type != "ulong" && type != "uuid" && type != "binary") {
                    return wrong_member(field.type_name, "not string, ulong, uuid or binary");
                }
            }
        }
        const auto good = append_typed(type, *member, event_.parts.fields[index]);
        return good.ok() ? good : wrong_member(field.name, good.error().detail);
    }

    Result<> read_properties() {
        const value* properties = find("properties");
        const value* types = find("property_types");
        if (properties && !properties->is_object()) return wrong_member("properties", "no object");
        if (types && !types->is_object()) return wrong_member("property_types", "no object");
        for (const auto& type : types ? types->get_object() : object()) {
            if (!properties || !properties->get_object().contains(type.key())) {
                return wrong_member("property_types",
                                    fmt::format("naming the property '{}', which is not there",
                                                shown({type.key().data(), type.key().size()})));
            }
        }
        if (!properties) return {};
        for (const auto& property : properties->get_object()) {
            const std::string name(property.key().data(), property.key().size());
            std::string_view type;
            if (const value* named =
                    types ? types->get_object().if_contains(property.key()) : nullptr) {
                EK_TRY_ASSIGN(type, text("property_types", *named));
            }
            Buffer encoded;
            if (const auto good = append_typed(type, property.value(), encoded); !good.ok()) {
                return Error{ErrorCode::invalid_argument,
                             fmt::format("property '{}' is {}", shown(name), good.error().detail)};
            }
            event_.parts.properties.push_back({name, std::move(encoded)});
        }
        return {};
    }

    Result<> read_body() {
        if (find("body_value")) {
            return wrong_member("body_value", "only for reading; give 'body' or 'amqp_base64'");
        }
        const value* plain = find("body");
        const value* encoded = find("body_base64");
        if (plain && encoded) return wrong_member("body", "given twice, also as 'body_base64'");
        if (encoded) {
            EK_TRY_ASSIGN(const auto given, text("body_base64", *encoded));
            auto bytes = base64_decoded(given);
            if (!bytes && !given.empty()) return wrong_member("body_base64", "not base64");
            event_.parts.body = bytes ? std::move(*bytes) : std::string();
            return {};
        }
        if (!plain) return wrong_member("body", "missing");
        if (!plain->is_string()) {
            return wrong_member("body", "not a string; JSON in it is a string as well");
        }
        event_.parts.body = text_of(*plain);
        return {};
    }

    // As the hub will, so that what is wrong is known by its line.
    Result<> check_grammar() const {
        const Buffer made = event_.whole.empty() ? event_.parts.message() : Buffer();
        amqp::Grammar grammar;
        for (ByteView rest = event_.whole.empty() ? made : event_.whole; !rest.empty();) {
            const auto section = amqp::next_section(rest);
            if (!section.ok()) return wrong_member("amqp_base64", "not an AMQP message");
            if (const auto fault = grammar.fault_of(*section); !fault.empty()) {
                return Error{ErrorCode::invalid_argument,
                             fmt::format("it is no valid AMQP message: {}", fault)};
            }
        }
        return {};
    }

    const object& members_;
    GivenEvent event_ = {};
};

}  // namespace

void EventParts::set_content_type(std::string_view type) {
    Buffer& field = fields[content_type_field];
    field.clear();
    if (!type.empty()) amqp::Encoder(field).symbol(type);
}

void EventParts::set_property(std::string name, Buffer value) {
    const auto known = std::ranges::find(properties, name, &Named::name);
    if (known != properties.end()) {
        known->value = std::move(value);
    } else {
        properties.push_back({std::move(name), std::move(value)});
    }
}

Buffer EventParts::message() const {
    Buffer bytes;
    bytes.reserve(body.size() + 256);
    amqp::Encoder encoder(bytes);
    if (std::ranges::any_of(fields, [](const Buffer& field) { return !field.empty(); })) {
        encoder.descriptor(static_cast<std::uint8_t>(descriptor::properties));
        const auto list = encoder.begin_list();
        for (const Buffer& field : fields) {
            field.empty() ? encoder.null() : encoder.bytes(field);
        }
        encoder.end(list, fields_max);
    }
    if (!properties.empty()) {
        encoder.descriptor(static_cast<std::uint8_t>(descriptor::application_properties));
        const auto map = encoder.begin_map();
        for (const Named& property : properties) {
            encoder.string(property.name);
            encoder.bytes(property.value);
        }
        encoder.end(map, static_cast<std::uint32_t>(properties.size() * 2));
    }
    encoder.descriptor(static_cast<std::uint8_t>(descriptor::data));
    encoder.binary(as_bytes(body));
    return bytes;
}

std::string as_json(const EventPlace& place, const Event& event) {
    MemberWriter members;
    members.take(event.sections);
    const std::string key = event.partition_key.empty() ? "null" : json_quoted(event.partition_key);
    const std::string body = is_utf8(event.text())
                                 ? "\"body\":" + json_quoted(event.text())
                                 : "\"body_base64\":" + json_quoted(base64_encoded(event.body()));
    std::string whole;
    if (!members.exact) {
        whole = fmt::format(",\"amqp_base64\":\"{}\"",
                            base64_encoded(eventhubs::without_hub_annotations(event.sections)));
    }
    return fmt::format(
        "{{\"event_hub\":{},\"partition\":{},\"sequence_number\":{},\"offset\":{},"
        "\"enqueued_at\":\"{}\",\"partition_key\":{},{}{}{}{}{}}}",
        json_quoted(place.event_hub), place.partition, event.sequence_number, event.offset,
        to_string(wall_time(event.enqueued_time)), key, members.fields, members.properties,
        members.body_value, body, whole);
}

bool is_event_json(const value& value) {
    const auto* members = value.if_object();
    return members && tells_place(*members);
}

Result<GivenEvent> event_from_json(const value& value) {
    const auto* members = value.if_object();
    if (!members) return Error{ErrorCode::invalid_argument, "it is not a JSON object"};
    return MemberReader(*members).read();
}

}  // namespace evenkeel::cli
