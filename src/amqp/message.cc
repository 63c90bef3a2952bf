#include "amqp/message.h"

#include "amqp/performatives.h"

namespace evenkeel::amqp {

Result<Section> next_section(ByteView& bytes) {
    const ByteView before = bytes;
    Decoder decoder(bytes);
    Section section;
    const std::uint8_t first = decoder.peek();
    if (first == code::map8 || first == code::map32) {
        section.kind = descriptor::message_annotations;
    } else {
        section.kind = decoder.descriptor().value_or(0);
    }
    section.value = decoder.value();
    const bool known = section.kind >= descriptor::header && section.kind <= descriptor::footer;
    if (decoder.failed() || section.value.empty() || !known) {
        return Error{ErrorCode::corrupt, "the message has something that is no section"};
    }
    bytes = decoder.rest();
    section.whole = before.first(before.size() - bytes.size());
    return section;
}

std::optional<ByteView> cut_usual_data(ByteView& bytes) {
    constexpr std::size_t small_head = 5;
    constexpr std::size_t large_head = 8;
    if (bytes.size() < large_head || bytes[0] != std::byte{0} ||
        bytes[1] != std::byte{code::small_ulong} ||
        bytes[2] != static_cast<std::byte>(descriptor::data)) {
        return std::nullopt;
    }
    std::size_t head = small_head;
    std::size_t size = std::to_integer<std::size_t>(bytes[4]);
    if (bytes[3] == std::byte{code::binary32}) {
        head = large_head;
        size = __builtin_bswap32(load<std::uint32_t>(bytes.data() + 4));
    } else if (bytes[3] != std::byte{code::binary8}) {
        return std::nullopt;
    }
    if (bytes.size() - head < size) return std::nullopt;
    const ByteView content = bytes.subspan(head, size);
    bytes = bytes.subspan(head + size);
    return content;
}

std::optional<std::int64_t> integer_in(ByteView map, std::string_view key) {
    std::optional<std::int64_t> found;
    for_each_pair(map, [&](std::string_view name, ByteView value) {
        if (name == key) found = Decoder(value).integer();
    });
    return found;
}

std::optional<std::string_view> text_in(ByteView map, std::string_view key) {
    std::optional<std::string_view> found;
    for_each_pair(map, [&](std::string_view name, ByteView value) {
        if (name == key) found = Decoder(value).text();
    });
    return found;
}

Result<Request> decode_request(ByteView message) {
    Request request;
    while (!message.empty()) {
        EK_TRY_ASSIGN(const Section section, next_section(message));
        if (section.kind == descriptor::properties) {
            Decoder decoder(section.value);
            auto fields = decoder.list();
            if (!fields) return Error{ErrorCode::corrupt, "properties are not a list"};
            request.message_id = fields->value();
            fields->value();  // user id
            fields->value();  // to
            fields->value();  // subject
            if (const auto reply_to = fields->string()) request.reply_to = *reply_to;
        } else if (section.kind == descriptor::application_properties) {
            request.properties = section.value;
        } else if (section.kind == descriptor::value) {
            Decoder decoder(section.value);
            const auto first = decoder.peek();
            if (first == code::string8 || first == code::string32) {
                request.text = std::string(*decoder.string());
            }
        }
    }
    return request;
}

void encode_response(ByteView correlation_id, ByteView application_properties, ByteView body,
                     Buffer& to) {
    Encoder encoder(to);
    encoder.descriptor(static_cast<std::uint8_t>(descriptor::properties));
    const auto list = encoder.begin_list();
    for (int i = 0; i < 5; ++i) encoder.null();  // message id, user id, to, subject, reply to
    correlation_id.empty() ? encoder.null() : encoder.bytes(correlation_id);
    for (int i = 0; i < 7; ++i) encoder.null();
    encoder.end(list, 13);
    encoder.descriptor(static_cast<std::uint8_t>(descriptor::application_properties));
    encoder.bytes(application_properties);
    if (!body.empty()) {
        encoder.descriptor(static_cast<std::uint8_t>(descriptor::value));
        encoder.bytes(body);
    }
}

}  // namespace evenkeel::amqp
