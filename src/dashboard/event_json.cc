// tidy: no test: tested by event_browser_test.cc
#include "dashboard/event_json.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include <boost/json.hpp>

#include "base/base64.h"
#include "base/bytes.h"
#include "base/hex.h"
#include "base/time_point.h"
#include "base/utf8.h"

namespace evenkeel::dashboard {
namespace {

constexpr std::int64_t exact_max = std::int64_t{1} << 53;  // what a page's numbers hold
constexpr std::size_t properties_max = 1000;
constexpr std::size_t property_bytes_shown_max = std::size_t{64} << 10;  // of all, with names
constexpr std::size_t field_bytes_shown_max = std::size_t{4} << 10;      // content type, ids
constexpr std::size_t parsed_bytes_max = std::size_t{256} << 10;  // larger ones count as text

std::string_view text_of(Bytes bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool is_json(std::string_view text) {
    boost::system::error_code error;
    boost::json::stream_parser parser;
    parser.write(text.data(), text.size(), error);
    if (!error) parser.finish(error);
    return !error;
}

// Whole characters only.
std::string_view cut(std::string_view text, std::size_t bytes_max) {
    if (text.size() <= bytes_max) return text;
    std::size_t end = bytes_max;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;
    return text.substr(0, end);
}

void write_body(JsonWriter& json, std::string_view body, BodyLength length) {
    const bool is_text = is_utf8(body) && body.find('\0') == body.npos;
    const std::size_t bytes_max = length == BodyLength::whole ? body.size() : body_shown_max;
    const std::string_view shown =
        is_text ? cut(body, bytes_max) : body.substr(0, std::min(body.size(), bytes_max));
    const bool looks_like_json = is_text && !body.empty() && body.size() <= parsed_bytes_max &&
                                 (body.front() == '{' || body.front() == '[') && is_json(body);
    json.key("body").object([&] {
        json.member("kind", !is_text ? "base64" : looks_like_json ? "json" : "text");
        json.member("value", is_text ? std::string(shown) : base64_encoded(as_bytes(shown)));
        json.member("truncated", shown.size() < body.size());
    });
}

std::optional<std::string_view> text_or_none(std::string_view text) {
    return text.empty() ? std::nullopt : std::optional(text);
}

// What a value adds to an answer that shows it whole.
std::size_t bytes_of(const Value& value) {
    constexpr std::size_t fixed = 16;
    if (const auto* const text = std::get_if<std::string_view>(&value)) return text->size();
    if (const auto* const symbol = std::get_if<Symbol>(&value)) return symbol->text.size();
    if (const auto* const bytes = std::get_if<Bytes>(&value)) return bytes->size();
    if (const auto* const encoded = std::get_if<Encoded>(&value)) return encoded->bytes.size();
    return fixed;
}

void write_properties(JsonWriter& json, const Event& event, BodyLength length) {
    std::size_t left = length == BodyLength::whole ? std::numeric_limits<std::size_t>::max()
                                                   : property_bytes_shown_max;
    bool is_cut = false;
    json.key("properties").object([&] {
        // A name that is there twice would make two members of one.
        std::set<std::string_view> names;
        for (const Property& property : event.properties()) {
            if (names.size() == properties_max) {
                is_cut = true;
                break;
            }
            const std::size_t bytes = property.name.size() + bytes_of(property.value);
            if (bytes > left) {
                is_cut = true;
                continue;
            }
            if (!names.insert(property.name).second) continue;
            left -= bytes;
            json.key(property.name);
            write_value(json, property.value);
        }
    });
    if (is_cut) json.member("properties_truncated", true);
}

// An id; cut, and then as text, if it is longer than any that is of use.
void write_id(JsonWriter& json, std::string_view name, const Value& id, BodyLength length) {
    json.key(name);
    if (length == BodyLength::whole || bytes_of(id) <= field_bytes_shown_max) {
        return write_value(json, id);
    }
    const auto* const text = std::get_if<std::string_view>(&id);
    json.value(text ? cut(*text, field_bytes_shown_max) : "(too long to be shown)");
}

struct ValueWriter {
    JsonWriter& json;
    void operator()(std::monostate) const { json.null(); }
    void operator()(bool value) const { json.value(value); }
    template <std::integral T>
    void operator()(T value) const {
        const bool is_exact =
            std::cmp_less(value, exact_max) && std::cmp_greater(value, -exact_max);
        if (is_exact) {
            json.value(static_cast<std::int64_t>(value));
        } else {
            json.value(std::to_string(value));
        }
    }
    void operator()(float value) const { (*this)(static_cast<double>(value)); }
    void operator()(double value) const {
        if (std::isfinite(value)) {
            json.raw(fmt::format("{}", value));
        } else {
            json.value(fmt::format("{}", value));
        }
    }
    void operator()(Timestamp value) const { json.value(wall_time(value)); }
    void operator()(std::string_view value) const { json.value(value); }
    void operator()(Symbol value) const { json.value(value.text); }
    void operator()(Bytes value) const { json.value(base64_encoded(value)); }
    void operator()(const Uuid& value) const { json.value(to_hex(value)); }
    void operator()(const Encoded& value) const { json.value(base64_encoded(value.bytes)); }
};

}  // namespace

void write_value(JsonWriter& json, const Value& value) {
    std::visit(ValueWriter{json}, static_cast<const Value::variant&>(value));
}

void write_event(JsonWriter& json, std::uint32_t partition, const Event& event, BodyLength length) {
    json.member("p", partition).member("seq", event.sequence_number);
    json.member("offset", std::to_string(event.offset));
    json.member("enqueued_at", wall_time(event.enqueued_time));
    json.member("partition_key", text_or_none(event.partition_key));
    const std::string_view type = event.content_type();
    json.member(
        "content_type",
        text_or_none(length == BodyLength::whole ? type : cut(type, field_bytes_shown_max)));
    write_id(json, "message_id", event.message_id(), length);
    write_id(json, "correlation_id", event.correlation_id(), length);
    write_properties(json, event, length);
    json.member("bytes", event.sections.size());
    write_body(json, text_of(event.body()), length);
}

void write_sections(JsonWriter& json, const Event& event) {
    constexpr std::pair<Section, std::string_view> all[] = {
        {Section::header, "header"},
        {Section::delivery_annotations, "delivery-annotations"},
        {Section::message_annotations, "message-annotations"},
        {Section::properties, "properties"},
        {Section::application_properties, "application-properties"},
        {Section::data, "data"},
        {Section::sequence, "amqp-sequence"},
        {Section::value, "amqp-value"},
        {Section::footer, "footer"}};
    json.key("sections").array([&] {
        for (const auto& each : all) {
            const Bytes bytes = event.section(each.first);
            if (bytes.empty()) continue;
            json.object([&] { json.member("name", each.second).member("hex", to_hex(bytes)); });
        }
    });
}

}  // namespace evenkeel::dashboard
