#include "eventhubs/encoding.h"

#include <cstring>

#include "amqp/performatives.h"

namespace evenkeel::eventhubs {
namespace {

using amqp::Buffer;
using amqp::Encoder;
namespace descriptor = amqp::descriptor;

constexpr std::uint32_t properties_fields = 13;
constexpr std::size_t data_head_bytes = 8;  // descriptor, format code, 32-bit size

void encode_properties(const EventData& event, Encoder& encoder) {
    const auto text = [&](std::string_view value) {
        value.empty() ? encoder.null() : encoder.string(value);
    };
    encoder.descriptor(static_cast<std::uint8_t>(descriptor::properties));
    const auto list = encoder.begin_list();
    text(event.message_id);
    for (int i = 1; i < 5; ++i) encoder.null();  // user id, to, subject, reply to
    text(event.correlation_id);
    event.content_type.empty() ? encoder.null() : encoder.symbol(event.content_type);
    for (std::uint32_t i = 7; i < properties_fields; ++i) encoder.null();
    encoder.end(list, properties_fields);
}

void encode_message(const EventData& event, Buffer& to) {
    Encoder encoder(to);
    if (!event.message_id.empty() || !event.correlation_id.empty() || !event.content_type.empty()) {
        encode_properties(event, encoder);
    }
    if (!event.properties.empty()) {
        encoder.descriptor(static_cast<std::uint8_t>(descriptor::application_properties));
        const auto map = encoder.begin_map();
        for (const Property& property : event.properties) {
            encoder.string(property.name);
            append_value(property, encoder);
        }
        encoder.end(map, static_cast<std::uint32_t>(event.properties.size() * 2));
    }
    encoder.descriptor(static_cast<std::uint8_t>(descriptor::data));
    encoder.binary(as_bytes(event.body));
}

}  // namespace

std::size_t content_bytes(const EventData& event) {
    std::size_t bytes = event.body.size() + event.content_type.size() + event.message_id.size() +
                        event.correlation_id.size();
    for (const Property& property : event.properties) {
        const auto* const text = std::get_if<std::string_view>(&property.value);
        bytes += property.name.size() + (text ? text->size() : 1);
    }
    return bytes;
}

void append_value(const Property& property, amqp::Encoder& encoder) {
    if (const auto* text = std::get_if<std::string_view>(&property.value)) {
        encoder.string(*text);
    } else if (const auto* number = std::get_if<std::int64_t>(&property.value)) {
        encoder.long_(*number);
    } else if (const auto* truth = std::get_if<bool>(&property.value)) {
        encoder.boolean(*truth);
    } else {
        std::byte bytes[9] = {std::byte{amqp::code::double_}};
        std::uint64_t bits = 0;
        std::memcpy(&bits, &std::get<double>(property.value), sizeof bits);
        store(bytes + 1, __builtin_bswap64(bits));
        encoder.bytes(bytes);
    }
}

void append_event(const EventData& event, Buffer& to) {
    const std::size_t before = to.size();
    to.resize(before + data_head_bytes);
    encode_message(event, to);
    const auto size = static_cast<std::uint32_t>(to.size() - before - data_head_bytes);
    std::byte* const head = to.data() + before;
    head[0] = std::byte{amqp::code::described};
    head[1] = std::byte{amqp::code::small_ulong};
    head[2] = static_cast<std::byte>(descriptor::data);
    head[3] = std::byte{amqp::code::binary32};
    store(head + 4, __builtin_bswap32(size));
}

}  // namespace evenkeel::eventhubs
