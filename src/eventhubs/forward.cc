#include "eventhubs/forward.h"

#include <algorithm>

#include "amqp/message.h"
#include "amqp/performatives.h"
#include "eventhubs/value.h"
#include "eventhubs/wire_names.h"

namespace evenkeel::eventhubs {
namespace {

using amqp::Buffer;
using amqp::Encoder;
namespace descriptor = amqp::descriptor;

// Of the hub that the event came from, or of its idempotent producer.
bool is_of_a_hub(std::string_view name) {
    return name.starts_with(annotation::vendor_prefix) || name.starts_with(property::vendor_prefix);
}

// The pairs of a section's map that `keeps` wants, as such a section; nothing if there are none.
template <typename Keeps>
void encode_kept(std::uint64_t section, ByteView map, Encoder& encoder, Keeps keeps) {
    std::uint32_t count = 0;
    Buffer kept;
    Encoder pairs(kept);
    amqp::for_each_pair(map, [&](std::string_view key, ByteView value) {
        if (!keeps(key)) return;
        if (section == descriptor::message_annotations) {
            pairs.symbol(key);
        } else {
            pairs.string(key);
        }
        pairs.bytes(value);
        count += 2;
    });
    if (count == 0) return;
    encoder.descriptor(static_cast<std::uint8_t>(section));
    const auto open = encoder.begin_map();
    encoder.bytes(kept);
    encoder.end(open, count);
}

void encode_annotations(ByteView map, Encoder& encoder) {
    encode_kept(descriptor::message_annotations, map, encoder,
                [](std::string_view key) { return !is_of_a_hub(key); });
}

void encode_properties(ByteView map, std::span<const Property> properties, Encoder& encoder) {
    std::uint32_t count = 0;
    encoder.descriptor(static_cast<std::uint8_t>(descriptor::application_properties));
    const auto open = encoder.begin_map();
    if (!map.empty()) {
        amqp::for_each_pair(map, [&](std::string_view key, ByteView value) {
            const bool is_ours = std::ranges::any_of(
                properties, [&](const Property& property) { return property.name == key; });
            if (is_ours) return;
            encoder.string(key);
            encoder.bytes(value);
            count += 2;
        });
    }
    for (const Property& property : properties) {
        encoder.string(property.name);
        append_value(property.value, encoder);
        count += 2;
    }
    encoder.end(open, count);
}

// The pairs that a hub did not give, whatever their keys are.
struct Extra {
    bool keep_producer = false;
    std::string_view key = {};
    std::optional<std::int64_t> enqueued_time_ms = {};
};
void encode_own_annotations(ByteView map, const Extra& extra, Encoder& encoder) {
    Buffer kept;
    std::uint32_t count = 0;
    amqp::Decoder decoder(map);
    auto pairs = decoder.map();
    while (pairs && pairs->remaining() > 0 && !pairs->failed()) {
        const ByteView key = pairs->value();
        const ByteView value = pairs->value();
        const auto name = amqp::Decoder(key).text();
        if (pairs->failed()) break;
        if (name && is_hub_annotation(*name)) continue;
        if (name && is_producer_annotation(*name) && !extra.keep_producer) continue;
        kept.insert(kept.end(), key.begin(), key.end());
        kept.insert(kept.end(), value.begin(), value.end());
        count += 2;
    }
    Encoder more(kept);
    if (!extra.key.empty()) {
        more.symbol(annotation::partition_key);
        more.string(extra.key);
        count += 2;
    }
    if (extra.enqueued_time_ms) {
        more.symbol(annotation::enqueued_time);
        more.timestamp(*extra.enqueued_time_ms);
        count += 2;
    }
    if (count == 0) return;
    encoder.descriptor(static_cast<std::uint8_t>(descriptor::message_annotations));
    const auto open = encoder.begin_map();
    encoder.bytes(kept);
    encoder.end(open, count);
}

// The annotations come first, where they belong.
Buffer annotated(ByteView sections, const Extra& extra) {
    Buffer result;
    Encoder encoder(result);
    ByteView annotations;
    for (ByteView rest = sections; !rest.empty();) {
        const auto section = amqp::next_section(rest);
        if (!section.ok()) break;
        if (section->kind == descriptor::message_annotations) annotations = section->value;
    }
    encode_own_annotations(annotations, extra, encoder);
    for (ByteView rest = sections; !rest.empty();) {
        const auto section = amqp::next_section(rest);
        if (!section.ok()) break;
        switch (section->kind) {
            case descriptor::header:
            case descriptor::delivery_annotations:
            case descriptor::message_annotations: break;
            default: encoder.bytes(section->whole);
        }
    }
    return result;
}

}  // namespace

Buffer without_hub_annotations(ByteView sections) {
    return annotated(sections, {});
}

Buffer stored_sections(ByteView sections) {
    return annotated(sections, {.keep_producer = true});
}

Buffer restorable(ByteView sections, std::string_view partition_key,
                  std::int64_t enqueued_time_ms) {
    return annotated(
        sections,
        {.keep_producer = true, .key = partition_key, .enqueued_time_ms = enqueued_time_ms});
}

Buffer without_properties(ByteView sections, std::span<const std::string_view> names) {
    const Buffer own = without_hub_annotations(sections);
    Buffer result;
    Encoder encoder(result);
    for (ByteView rest = own; !rest.empty();) {
        const auto section = amqp::next_section(rest);
        if (!section.ok()) break;
        if (section->kind != descriptor::application_properties) {
            encoder.bytes(section->whole);
            continue;
        }
        encode_kept(
            descriptor::application_properties, section->value, encoder,
            [&](std::string_view key) { return std::ranges::find(names, key) == names.end(); });
    }
    return result;
}

Buffer with_properties(ByteView sections, std::span<const Property> properties) {
    ByteView annotations, own_properties, application;
    Buffer body;
    bool is_good = true;
    for (ByteView rest = sections; is_good && !rest.empty();) {
        const auto section = amqp::next_section(rest);
        is_good = section.ok();
        if (!is_good) break;
        switch (section->kind) {
            case descriptor::header:
            case descriptor::delivery_annotations: break;
            case descriptor::message_annotations: annotations = section->value; break;
            case descriptor::properties: own_properties = section->whole; break;
            case descriptor::application_properties: application = section->value; break;
            default: body.insert(body.end(), section->whole.begin(), section->whole.end());
        }
    }
    Buffer result;
    Encoder encoder(result);
    if (is_good && !annotations.empty()) encode_annotations(annotations, encoder);
    if (is_good) encoder.bytes(own_properties);
    encode_properties(is_good ? application : ByteView(), properties, encoder);
    if (!is_good) {
        encoder.descriptor(static_cast<std::uint8_t>(descriptor::data));
        encoder.binary(sections);
    } else {
        encoder.bytes(body);
    }
    return result;
}

}  // namespace evenkeel::eventhubs
