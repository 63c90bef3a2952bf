#include "client/requests.h"

#include <charconv>

#include "amqp/message.h"
#include "amqp/performatives.h"

namespace evenkeel::client {
namespace {

using amqp::Buffer;
using amqp::Decoder;
using amqp::Encoder;
namespace descriptor = amqp::descriptor;

constexpr std::int64_t properties_fields = 13;

// The number that a text is, all of it.
std::optional<std::int64_t> number_of(std::string_view text) {
    std::int64_t value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
    return value;
}

NodeRequest read(std::string_view type, std::string_view event_hub, const std::string& partition,
                 const Secret& token) {
    NodeRequest request;
    Encoder encoder(request.properties);
    const auto map = encoder.begin_map();
    std::uint32_t count = 6;
    const auto pair = [&](std::string_view name, std::string_view value) {
        encoder.string(name);
        encoder.string(value);
    };
    pair("operation", "READ");
    pair("name", event_hub);
    pair("type", type);
    if (!partition.empty()) {
        pair("partition", partition);
        count += 2;
    }
    if (!token.empty()) {
        pair("security_token", token.reveal());
        count += 2;
    }
    encoder.end(map, count);
    return request;
}

Error not_a_reply(std::string_view why) {
    return {ErrorCode::corrupt, "a reply of the hub: " + std::string(why)};
}

// The correlation id, which is the sixth of the properties.
std::optional<std::uint64_t> id_of(ByteView properties) {
    Decoder decoder(properties);
    auto fields = decoder.list();
    if (!fields) return std::nullopt;
    for (int i = 0; i < 5; ++i) fields->value();
    const auto id = fields->string();
    if (!id) return std::nullopt;
    const auto number = number_of(*id);
    return number ? std::optional(static_cast<std::uint64_t>(*number)) : std::nullopt;
}

}  // namespace

NodeRequest put_token(std::string_view audience, const Secret& token, WallTime expires) {
    NodeRequest request;
    Encoder encoder(request.properties);
    const auto map = encoder.begin_map();
    encoder.string("operation");
    encoder.string("put-token");
    encoder.string("type");
    encoder.string("servicebus.windows.net:sastoken");
    encoder.string("name");
    encoder.string(audience);
    encoder.string("expiration");
    encoder.timestamp(expires.milliseconds);
    encoder.end(map, 8);
    request.text = token.reveal();
    return request;
}

NodeRequest read_event_hub(std::string_view event_hub, const Secret& token) {
    return read("com.microsoft:eventhub", event_hub, "", token);
}

NodeRequest read_partition(std::string_view event_hub, std::uint32_t partition,
                           const Secret& token) {
    return read("com.microsoft:partition", event_hub, std::to_string(partition), token);
}

Buffer encode_request(const NodeRequest& request, std::uint64_t id, std::string_view reply_to) {
    Buffer message;
    Encoder encoder(message);
    encoder.descriptor(static_cast<std::uint8_t>(descriptor::properties));
    const auto list = encoder.begin_list();
    encoder.string(std::to_string(id));
    for (int i = 0; i < 3; ++i) encoder.null();  // user id, to, subject
    encoder.string(reply_to);
    for (int i = 5; i < properties_fields; ++i) encoder.null();
    encoder.end(list, properties_fields);
    encoder.descriptor(static_cast<std::uint8_t>(descriptor::application_properties));
    encoder.bytes(request.properties);
    encoder.descriptor(static_cast<std::uint8_t>(descriptor::value));
    request.text.empty() ? encoder.null() : encoder.string(request.text);
    return message;
}

Result<NodeReply> decode_reply(ByteView message) {
    NodeReply reply;
    std::optional<std::uint64_t> id;
    std::optional<std::int64_t> status;
    while (!message.empty()) {
        EK_TRY_ASSIGN(const auto section, amqp::next_section(message));
        if (section.kind == descriptor::properties) {
            id = id_of(section.value);
        } else if (section.kind == descriptor::application_properties) {
            // Two spellings: the service's own, and that of the AMQP management draft.
            for (const auto name : {"status-code", "statusCode"}) {
                if (!status) status = amqp::integer_in(section.value, name);
            }
            for (const auto name : {"status-description", "statusDescription"}) {
                if (const auto text = amqp::text_in(section.value, name)) reply.description = *text;
            }
            for (const auto name : {"error-condition", "errorCondition"}) {
                if (const auto text = amqp::text_in(section.value, name)) reply.condition = *text;
            }
        } else if (section.kind == descriptor::value) {
            reply.body.assign(section.value.begin(), section.value.end());
        }
    }
    if (!id) return not_a_reply("it answers no request of ours");
    if (!status) return not_a_reply("it has no status code");
    reply.id = *id;
    reply.status = *status;
    return reply;
}

Result<EventHubProperties> decode_event_hub(ByteView body) {
    EventHubProperties properties;
    const auto name = amqp::text_in(body, "name");
    const auto count = amqp::integer_in(body, "partition_count");
    if (!name || !count || *count < 0 || *count > 0xffff) {
        return not_a_reply("the event hub's name or number of partitions is missing");
    }
    properties.name = *name;
    properties.partitions = static_cast<std::uint32_t>(*count);
    properties.created_ms = amqp::integer_in(body, "created_at").value_or(0);
    properties.identity = amqp::text_in(body, "evenkeel_identity").value_or("");
    return properties;
}

Result<PartitionInfo> decode_partition(ByteView body) {
    PartitionInfo info;
    const auto partition = number_of(amqp::text_in(body, "partition").value_or(""));
    const auto first = amqp::integer_in(body, "begin_sequence_number");
    const auto last = amqp::integer_in(body, "last_enqueued_sequence_number");
    if (!partition || *partition < 0 || !first || !last) {
        return not_a_reply("the partition's sequence numbers are missing");
    }
    info.partition = static_cast<std::uint32_t>(*partition);
    info.begin_sequence_number = *first;
    info.last_enqueued_sequence_number = *last;
    info.last_enqueued_offset =
        number_of(amqp::text_in(body, "last_enqueued_offset").value_or("")).value_or(-1);
    // The service says year 1 for never.
    info.last_enqueued_time_ms =
        std::max<std::int64_t>(0, amqp::integer_in(body, "last_enqueued_time_utc").value_or(0));
    amqp::for_each_pair(body, [&](std::string_view key, ByteView value) {
        if (key == "is_partition_empty") {
            info.is_empty = Decoder(value).boolean().value_or(info.is_empty);
        }
    });
    return info;
}

}  // namespace evenkeel::client
