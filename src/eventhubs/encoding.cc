#include "eventhubs/encoding.h"

#include "amqp/performatives.h"
#include "eventhubs/value.h"

namespace evenkeel::eventhubs {
namespace {

using amqp::Buffer;
using amqp::Encoder;
namespace descriptor = amqp::descriptor;

constexpr std::uint32_t properties_fields = 13;
constexpr std::size_t data_head_bytes = 8;  // descriptor, format code, 32-bit size

// Ids are texts, unsigned longs, UUIDs or bytes.
bool is_id(const Value& value) {
    return !value.text().empty() || std::holds_alternative<std::uint64_t>(value) ||
           std::holds_alternative<Uuid>(value) || std::holds_alternative<Bytes>(value);
}

bool has_properties(const EventData& event) {
    for (const std::string_view text :
         {event.content_type, event.content_encoding, event.subject, event.to, event.reply_to,
          event.group_id, event.reply_to_group_id}) {
        if (!text.empty()) return true;
    }
    return is_id(event.message_id) || is_id(event.correlation_id) || !event.user_id.empty() ||
           event.group_sequence || event.absolute_expiry_time || event.creation_time;
}

void encode_properties(const EventData& event, Encoder& encoder) {
    const auto text = [&](std::string_view value) {
        value.empty() ? encoder.null() : encoder.string(value);
    };
    const auto symbol = [&](std::string_view value) {
        value.empty() ? encoder.null() : encoder.symbol(value);
    };
    const auto id = [&](const Value& value) {
        if (!is_id(value)) return encoder.null();
        value.text().empty() ? append_value(value, encoder) : encoder.string(value.text());
    };
    const auto time = [&](const std::optional<Timestamp>& value) {
        value ? encoder.timestamp(value->time_since_epoch().count()) : encoder.null();
    };
    encoder.descriptor(static_cast<std::uint8_t>(descriptor::properties));
    const auto list = encoder.begin_list();
    id(event.message_id);
    event.user_id.empty() ? encoder.null() : encoder.binary(event.user_id);
    text(event.to);
    text(event.subject);
    text(event.reply_to);
    id(event.correlation_id);
    symbol(event.content_type);
    symbol(event.content_encoding);
    time(event.absolute_expiry_time);
    time(event.creation_time);
    text(event.group_id);
    encoder.optional(event.group_sequence, &Encoder::uint);
    text(event.reply_to_group_id);
    encoder.end(list, properties_fields);
}

}  // namespace

std::size_t content_bytes(const EventData& event) {
    std::size_t bytes = event.body.size() + event.content_type.size() +
                        event.content_encoding.size() + event.subject.size() + event.to.size() +
                        event.reply_to.size() + event.group_id.size() +
                        event.reply_to_group_id.size() + event.user_id.size();
    if (is_id(event.message_id)) bytes += content_bytes(event.message_id);
    if (is_id(event.correlation_id)) bytes += content_bytes(event.correlation_id);
    for (const Property& property : event.properties) {
        bytes += property.name.size() + content_bytes(property.value);
    }
    return bytes;
}

void append_message(const EventData& event, Buffer& to) {
    Encoder encoder(to);
    if (has_properties(event)) encode_properties(event, encoder);
    if (!event.properties.empty()) {
        encoder.descriptor(static_cast<std::uint8_t>(descriptor::application_properties));
        const auto map = encoder.begin_map();
        for (const Property& property : event.properties) {
            encoder.string(property.name);
            append_value(property.value, encoder);
        }
        encoder.end(map, static_cast<std::uint32_t>(event.properties.size() * 2));
    }
    encoder.descriptor(static_cast<std::uint8_t>(descriptor::data));
    encoder.binary(as_bytes(event.body));
}

void append_event(const EventData& event, Buffer& to) {
    const std::size_t before = to.size();
    to.resize(before + data_head_bytes);
    append_message(event, to);
    const auto size = static_cast<std::uint32_t>(to.size() - before - data_head_bytes);
    std::byte* const head = to.data() + before;
    head[0] = std::byte{amqp::code::described};
    head[1] = std::byte{amqp::code::small_ulong};
    head[2] = static_cast<std::byte>(descriptor::data);
    head[3] = std::byte{amqp::code::binary32};
    store(head + 4, __builtin_bswap32(size));
}

}  // namespace evenkeel::eventhubs
