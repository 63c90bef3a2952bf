#include "host/handler/metadata.h"

#include <cmath>
#include <type_traits>
#include <variant>

#include <fmt/format.h>

#include "base/base64.h"
#include "base/clock.h"
#include "base/hex.h"
#include "base/log.h"
#include "base/time_point.h"
#include "eventhubs/wire_names.h"

namespace evenkeel::host {
namespace {

namespace annotation = eventhubs::annotation;

std::string time_text(Timestamp time, TimeStyle style) {
    return style == TimeStyle::utc ? to_string(wall_time(time)) : bare_time(time);
}

std::string uuid_text(const Uuid& uuid) {
    const std::string hex = to_hex(uuid);
    return fmt::format("{}-{}-{}-{}-{}", hex.substr(0, 8), hex.substr(8, 4), hex.substr(12, 4),
                       hex.substr(16, 4), hex.substr(20));
}

std::string json_of(const Value& value) {
    return std::visit(
        [](const auto& held) -> std::string {
            using Held = std::decay_t<decltype(held)>;
            if constexpr (std::is_same_v<Held, std::monostate>) {
                return "null";
            } else if constexpr (std::is_same_v<Held, bool>) {
                return held ? "true" : "false";
            } else if constexpr (std::is_integral_v<Held>) {
                return fmt::format("{}", held);
            } else if constexpr (std::is_floating_point_v<Held>) {
                return std::isfinite(held) ? fmt::format("{}", held) : "null";
            } else if constexpr (std::is_same_v<Held, Timestamp>) {
                return quoted(to_string(wall_time(held)));
            } else if constexpr (std::is_same_v<Held, std::string_view>) {
                return quoted(held);
            } else if constexpr (std::is_same_v<Held, Symbol>) {
                return quoted(held.text);
            } else if constexpr (std::is_same_v<Held, Bytes>) {
                return quoted(base64_encoded(held));
            } else if constexpr (std::is_same_v<Held, Uuid>) {
                return quoted(uuid_text(held));
            } else {
                return quoted(base64_encoded(held.bytes));
            }
        },
        static_cast<const Value::variant&>(value));
}

// An object, member by member.
class Members {
public:
    void add(std::string_view name, std::string_view json) {
        text_ += text_.size() > 1 ? "," : "";
        append_quoted(text_, name);
        text_ += ':';
        text_ += json;
    }
    void add_text(std::string_view name, std::string_view text) {
        if (!text.empty()) add(name, quoted(text));
    }
    std::string take() { return std::move(text_) + "}"; }

private:
    std::string text_ = "{";
};

std::string properties_of(const Event& event) {
    Members members;
    for (const Property& property : event.properties()) {
        members.add(property.name, json_of(property.value));
    }
    return members.take();
}

// Annotations and fields of the message by their names on the wire, and the hub's own by theirs.
// `time` is when it was enqueued, as JSON.
std::string system_properties_of(const Event& event, std::string_view time) {
    Members members;
    members.add(annotation::sequence_number, fmt::format("{}", event.sequence_number));
    members.add(annotation::offset, fmt::format("\"{}\"", event.offset));
    members.add(annotation::enqueued_time, time);
    members.add_text(annotation::partition_key, event.partition_key);
    for (const Property& property : event.annotations()) {
        members.add(property.name, json_of(property.value));
    }
    const EventData data = event.data();
    if (!data.message_id.is_null()) members.add("message-id", json_of(data.message_id));
    if (!data.user_id.empty()) members.add("user-id", quoted(base64_encoded(data.user_id)));
    members.add_text("to", data.to);
    members.add_text("subject", data.subject);
    members.add_text("reply-to", data.reply_to);
    if (!data.correlation_id.is_null()) members.add("correlation-id", json_of(data.correlation_id));
    members.add_text("content-type", data.content_type);
    members.add_text("content-encoding", data.content_encoding);
    members.add_text("group-id", data.group_id);
    members.add("SequenceNumber", fmt::format("{}", event.sequence_number));
    members.add("Offset", fmt::format("{}", event.offset));
    members.add("PartitionKey", event.partition_key.empty() ? "null" : quoted(event.partition_key));
    members.add("EnqueuedTimeUtc", time);
    return members.take();
}

std::string partition_context_of(const Invocation& invocation) {
    return fmt::format(
        "{{\"IsCheckpointingAfterInvocation\":true,\"FullyQualifiedNamespace\":{},"
        "\"EventHubName\":{},\"ConsumerGroup\":{},\"PartitionId\":\"{}\"}}",
        quoted(invocation.host_name), quoted(invocation.function.event_hub),
        quoted(invocation.function.consumer_group), invocation.partition);
}

// A single event's time has lost its fraction on the way through .NET.
std::string whole_seconds(const std::string& text) {
    return text.substr(0, text.find('.'));
}

}  // namespace

std::string bare_time(Timestamp time) {
    std::string text = to_string(wall_time(time));
    text.pop_back();  // Z
    while (text.back() == '0') text.pop_back();
    if (text.back() == '.') text.pop_back();
    return text;
}

void append_quoted(std::string& to, std::string_view text) {
    const auto is_quote = [](char c) { return c == '"' || c == '\\'; };
    const auto is_plain = [&](char c) { return c >= 0x20 && c < 0x7f && !is_quote(c); };
    to.reserve(to.size() + text.size() + text.size() / 8 + 2);
    to += '"';
    while (!text.empty()) {
        std::size_t run = 0;
        while (run < text.size() && is_plain(text[run])) ++run;
        to.append(text.substr(0, run));
        text.remove_prefix(run);
        // JSON in a string is full of these.
        for (; !text.empty() && is_quote(text[0]); text.remove_prefix(1)) {
            to += '\\';
            to += text[0];
        }
        // All else that is special; no character of UTF-8 is cut in two.
        run = 0;
        while (run < text.size() && !is_plain(text[run]) && !is_quote(text[run])) ++run;
        if (run > 0) to += json_escaped(text.substr(0, run));
        text.remove_prefix(run);
    }
    to += '"';
}

std::string quoted(std::string_view text) {
    std::string result;
    append_quoted(result, text);
    return result;
}

std::vector<std::pair<std::string, std::string>> metadata_of(const Invocation& invocation,
                                                             TimeStyle style) {
    std::vector<std::pair<std::string, std::string>> all;
    all.emplace_back("PartitionContext", partition_context_of(invocation));
    if (invocation.function.cardinality == Cardinality::one && invocation.events.size() == 1) {
        const Event& event = invocation.events[0];
        if (!event.partition_key.empty()) {
            all.emplace_back("PartitionKey", quoted(event.partition_key));
        }
        all.emplace_back("Offset", fmt::format("\"{}\"", event.offset));
        all.emplace_back("SequenceNumber", fmt::format("{}", event.sequence_number));
        all.emplace_back(
            "EnqueuedTimeUtc",
            quoted(style == TimeStyle::utc ? time_text(event.enqueued_time, style)
                                           : whole_seconds(time_text(event.enqueued_time, style))));
        all.emplace_back("Properties", properties_of(event));
        all.emplace_back(
            "SystemProperties",
            system_properties_of(event, quoted(time_text(event.enqueued_time, style))));
        return all;
    }
    std::string keys, offsets, numbers, times, properties, system;
    // Events that were sent together have one time, and a date takes long to work out.
    Timestamp written;
    std::string time;
    for (const Event& event : invocation.events) {
        if (time.empty() || event.enqueued_time != written) {
            written = event.enqueued_time;
            time = quoted(time_text(written, style));
        }
        const char* comma = keys.empty() ? "" : ",";
        keys += comma + (event.partition_key.empty() ? "null" : quoted(event.partition_key));
        offsets += fmt::format("{}\"{}\"", comma, event.offset);
        numbers += fmt::format("{}{}", comma, event.sequence_number);
        times += comma + time;
        properties += comma + properties_of(event);
        system += comma + system_properties_of(event, time);
    }
    all.emplace_back("PartitionKeyArray", "[" + keys + "]");
    all.emplace_back("OffsetArray", "[" + offsets + "]");
    all.emplace_back("SequenceNumberArray", "[" + numbers + "]");
    all.emplace_back("EnqueuedTimeUtcArray", "[" + times + "]");
    all.emplace_back("PropertiesArray", "[" + properties + "]");
    all.emplace_back("SystemPropertiesArray", "[" + system + "]");
    return all;
}

}  // namespace evenkeel::host
