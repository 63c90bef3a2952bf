#include "cli/text/event_view.h"

#include <algorithm>
#include <ctime>
#include <optional>

#include <fmt/core.h>

#include "amqp/message.h"
#include "amqp/performatives.h"
#include "base/base64.h"
#include "base/clock.h"
#include "base/hex.h"
#include "base/text.h"
#include "base/time_point.h"
#include "cli/text/amqp_value.h"
#include "cli/text/listing.h"

namespace evenkeel::cli {
namespace {

constexpr int content_type_index = 6;  // among the properties

std::string time_text(std::int64_t unix_ms, const std::string& pattern) {
    const auto seconds = static_cast<std::time_t>(unix_ms / 1000);
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    char buffer[256];
    const std::size_t size = std::strftime(buffer, sizeof buffer, pattern.c_str(), &parts);
    return {buffer, size};
}

std::string properties_text(const EventDetails& details) {
    std::string text;
    for (const auto& [name, value] : details.properties) {
        text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, value);
    }
    return text;
}

// What stands in braces behind an escape; `rest` is moved on behind it. None if there is nothing.
std::optional<std::string_view> braces(std::string_view& rest) {
    if (!rest.starts_with('{')) return std::nullopt;
    // Of strftime[...] the pattern may hold braces of its own.
    const bool is_pattern = rest.starts_with("{strftime[");
    const auto end = is_pattern ? rest.find("]}") : rest.find('}');
    if (end == std::string_view::npos) return std::nullopt;
    const std::size_t size = end + (is_pattern ? 1 : 0);
    const std::string_view inside = rest.substr(1, size - 1);
    rest.remove_prefix(size + 1);
    return inside;
}

// The text of one escape; none if there is no such one.
std::optional<std::string> escape(char letter, std::optional<std::string_view> inside,
                                  const EventPlace& place, const Event& event) {
    if (letter == 'd' && inside && inside->starts_with("strftime[")) {
        const auto pattern = inside->substr(9, inside->size() - 10);
        return time_text(wall_time(event.enqueued_time).milliseconds, std::string(pattern));
    }
    if (letter == 'v' && inside == "hex") return to_hex(as_bytes(event.text()));
    if (letter == 'v' && inside == "base64") return base64_encoded(event.body());
    if (inside) return std::nullopt;
    switch (letter) {
        case 't': return std::string(place.event_hub);
        case 'p': return std::to_string(place.partition);
        case 's': return std::to_string(event.sequence_number);
        case 'o': return std::to_string(event.offset);
        case 'k': return std::string(event.partition_key);
        case 'd': return to_string(wall_time(event.enqueued_time));
        case 'v': return std::string(event.text());
        case 'V': return std::to_string(event.body().size());
        case 'h': return properties_text(details_of(event));
        case 'c': return details_of(event).content_type;
        case '%': return "%";
        default: return std::nullopt;
    }
}

// Walks the format; none if an escape is none, which `wrong` then holds.
std::optional<std::string> walk(std::string_view format, const EventPlace& place,
                                const Event& event, bool to_terminal, std::string* wrong) {
    std::string text;
    while (!format.empty()) {
        const char first = format.front();
        const char second = format.size() > 1 ? format[1] : '\0';
        format.remove_prefix(1);
        if (first == '\\' && std::string_view("ntr\\").find(second) != std::string_view::npos) {
            text += second == 'n' ? '\n' : second == 't' ? '\t' : second == 'r' ? '\r' : '\\';
            format.remove_prefix(1);
        } else if (first == '%' && second != '\0') {
            format.remove_prefix(1);
            const bool may_have_braces = second == 'd' || second == 'v';
            const auto inside = may_have_braces ? braces(format) : std::nullopt;
            const auto part = escape(second, inside, place, event);
            if (!part) {
                if (wrong) *wrong = fmt::format("%{}{}", second, inside ? "{...}" : "");
                return std::nullopt;
            }
            text += to_terminal ? visible(*part) : *part;
        } else {
            text += first;
        }
    }
    return text;
}

}  // namespace

EventDetails details_of(const Event& event) {
    EventDetails details;
    ByteView rest = event.sections;
    while (!rest.empty()) {
        const auto section = amqp::next_section(rest);
        if (!section.ok()) break;
        if (section->kind == amqp::descriptor::properties) {
            amqp::Decoder decoder(section->value);
            auto fields = decoder.list();
            for (int i = 0; fields && i < content_type_index; ++i) fields->value();
            if (fields) details.content_type = fields->symbol().value_or("");
        } else if (section->kind == amqp::descriptor::application_properties) {
            amqp::for_each_pair(section->value, [&](std::string_view name, ByteView value) {
                details.properties.emplace_back(name, typed_json(value).json);
            });
        }
    }
    return details;
}

Result<> check_format(std::string_view format) {
    std::string wrong;
    if (walk(format, {}, Event(), false, &wrong)) return {};
    return Error{ErrorCode::invalid_argument, fmt::format("'{}' is not a format specifier", wrong)};
}

std::string formatted(std::string_view format, const EventPlace& place, const Event& event,
                      const Terminal& terminal) {
    return walk(format, place, event, terminal.is_terminal, nullptr).value_or("");
}

std::string headline(const Terminal& terminal, const EventPlace& place, const Event& event) {
    const EventDetails details = details_of(event);
    std::string time = to_string(wall_time(event.enqueued_time));
    std::replace(time.begin(), time.end(), 'T', ' ');
    if (time.ends_with('Z')) time.pop_back();
    std::string line = fmt::format("{}/{} seq {}  {}", place.event_hub, place.partition,
                                   event.sequence_number, time);
    if (!event.partition_key.empty()) line += fmt::format("  key={}", event.partition_key);
    if (!details.content_type.empty()) line += "  " + details.content_type;
    for (const auto& [name, value] : details.properties)
        line += fmt::format("  {}={}", name, value);
    line += "  " + bytes_text(event.body().size());
    return painted(terminal, Paint::quiet, printable(line));
}

}  // namespace evenkeel::cli
