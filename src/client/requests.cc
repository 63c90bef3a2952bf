#include "client/requests.h"

#include "amqp/message.h"
#include "amqp/performatives.h"
#include "base/number.h"
#include "base/time_point.h"
#include "eventhubs/sas.h"
#include "eventhubs/wire_names.h"

namespace evenkeel::client {
namespace {

using amqp::Buffer;
using amqp::Decoder;
using amqp::Encoder;
namespace descriptor = amqp::descriptor;
namespace metric = eventhubs::metric;
namespace names = eventhubs::request;
namespace reply_names = eventhubs::reply;

constexpr std::int64_t properties_fields = 13;

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
    pair(names::operation, names::read);
    pair(names::name, event_hub);
    pair(names::type, type);
    if (!partition.empty()) {
        pair(names::partition, partition);
        count += 2;
    }
    if (!token.empty()) {
        pair(names::security_token, token.reveal());
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
    const auto number = parse_number<std::int64_t>(*id);
    return number ? std::optional(static_cast<std::uint64_t>(*number)) : std::nullopt;
}

}  // namespace

NodeRequest put_token(std::string_view audience, const Secret& token, WallTime expires) {
    NodeRequest request;
    Encoder encoder(request.properties);
    const auto map = encoder.begin_map();
    encoder.string(names::operation);
    encoder.string(names::put_token);
    encoder.string(names::type);
    encoder.string(token.reveal().starts_with(eventhubs::sas_word) ? names::sas_token
                                                                   : names::json_web_token);
    encoder.string(names::name);
    encoder.string(audience);
    encoder.string(names::expiration);
    encoder.timestamp(expires.milliseconds);
    encoder.end(map, 8);
    request.text = token.reveal();
    return request;
}

NodeRequest read_event_hub(std::string_view event_hub, const Secret& token) {
    return read(names::event_hub_type, event_hub, "", token);
}

NodeRequest read_partition(std::string_view event_hub, std::uint32_t partition,
                           const Secret& token) {
    return read(names::partition_type, event_hub, std::to_string(partition), token);
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
            for (const auto name : {reply_names::status_code, reply_names::status_code_draft}) {
                if (!status) status = amqp::integer_in(section.value, name);
            }
            for (const auto name :
                 {reply_names::status_description, reply_names::status_description_draft}) {
                if (const auto text = amqp::text_in(section.value, name)) reply.description = *text;
            }
            for (const auto name :
                 {reply_names::error_condition, reply_names::error_condition_draft}) {
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
    const auto name = amqp::text_in(body, names::name);
    const auto count = amqp::integer_in(body, reply_names::partition_count);
    if (!name || !count || *count < 0 || *count > 0xffff) {
        return not_a_reply("the event hub's name or number of partitions is missing");
    }
    properties.name = *name;
    properties.partitions = static_cast<std::uint32_t>(*count);
    properties.created_time =
        time_point({amqp::integer_in(body, reply_names::created_at).value_or(0)});
    properties.identity = amqp::text_in(body, reply_names::identity).value_or("");
    return properties;
}

Result<PartitionInfo> decode_partition(ByteView body) {
    PartitionInfo info;
    const auto partition =
        parse_number<std::int64_t>(amqp::text_in(body, names::partition).value_or(""));
    const auto first = amqp::integer_in(body, reply_names::begin_sequence_number);
    const auto last = amqp::integer_in(body, metric::last_sequence_number);
    if (!partition || *partition < 0 || !first || !last) {
        return not_a_reply("the partition's sequence numbers are missing");
    }
    info.partition = static_cast<std::uint32_t>(*partition);
    info.begin_sequence_number = *first;
    info.last_enqueued_sequence_number = *last;
    info.last_enqueued_offset =
        parse_number<std::int64_t>(amqp::text_in(body, metric::last_offset).value_or(""))
            .value_or(-1);
    // The service says year 1 for never.
    info.last_enqueued_time = time_point(
        {std::max<std::int64_t>(0, amqp::integer_in(body, metric::last_time).value_or(0))});
    amqp::for_each_pair(body, [&](std::string_view key, ByteView value) {
        if (key == reply_names::is_partition_empty) {
            info.is_empty = Decoder(value).boolean().value_or(info.is_empty);
        }
    });
    return info;
}

}  // namespace evenkeel::client
