#include "eventhubs/sections.h"

namespace evenkeel::eventhubs {
namespace {

constexpr std::byte data_descriptor{0x75};
constexpr std::byte short_binary{0xa0};
constexpr std::byte long_binary{0xb0};

std::uint32_t big_endian(ByteView bytes) {
    std::uint32_t value = 0;
    for (const std::byte byte : bytes.first(4)) {
        value = value << 8 | std::to_integer<std::uint32_t>(byte);
    }
    return value;
}

// Size of the encoded value that begins `bytes`, or 0 if it is not all there. The high half of a
// format code tells how wide the value is.
std::size_t value_bytes(ByteView bytes) {
    if (bytes.empty()) return 0;
    const auto code = std::to_integer<unsigned>(bytes[0]);
    std::size_t size = 0;
    switch (code >> 4) {
        case 0x4: size = 1; break;
        case 0x5: size = 2; break;
        case 0x6: size = 3; break;
        case 0x7: size = 5; break;
        case 0x8: size = 9; break;
        case 0x9: size = 17; break;
        case 0xa:
        case 0xc:
        case 0xe:
            if (bytes.size() < 2) return 0;
            size = 2 + std::to_integer<std::size_t>(bytes[1]);
            break;
        case 0xb:
        case 0xd:
        case 0xf:
            if (bytes.size() < 5) return 0;
            size = std::size_t{5} + big_endian(bytes.subspan(1));
            break;
        default: return 0;
    }
    return size <= bytes.size() ? size : 0;
}

// A small unsigned long as all clients send it, a full one, or the name.
bool is_data_descriptor(ByteView descriptor) {
    using namespace std::string_view_literals;
    const std::string_view text = as_text(descriptor);
    return text == "\x53\x75"sv || text == "\x80\0\0\0\0\0\0\0\x75"sv ||
           text ==
               "\xa3\x10"
               "amqp:data:binary"sv;
}

}  // namespace

std::size_t data_section_bytes(std::size_t body_bytes) {
    return body_bytes + (body_bytes <= 0xff ? 5 : 8);
}

void append_data_section(std::string_view body, std::string& to) {
    to += '\0';
    to += '\x53';
    to += static_cast<char>(data_descriptor);
    const auto size = static_cast<std::uint32_t>(body.size());
    if (body.size() <= 0xff) {
        to += static_cast<char>(short_binary);
    } else {
        to += static_cast<char>(long_binary);
        for (const int shift : {24, 16, 8}) to += static_cast<char>(size >> shift & 0xff);
    }
    to += static_cast<char>(size & 0xff);
    to += body;
}

ByteView first_data_section(ByteView sections) {
    // A section is 0x00, its descriptor, and one value.
    while (sections.size() > 3 && sections[0] == std::byte{0}) {
        const std::size_t descriptor = value_bytes(sections.subspan(1));
        if (descriptor == 0) return {};
        const bool is_data = is_data_descriptor(sections.subspan(1, descriptor));
        const ByteView value = sections.subspan(1 + descriptor);
        const std::size_t size = value_bytes(value);
        if (size == 0) return {};
        const bool small = value[0] == short_binary;
        if (is_data && (small || value[0] == long_binary)) {
            return value.first(size).subspan(small ? 2 : 5);
        }
        sections = value.subspan(size);
    }
    return {};
}

}  // namespace evenkeel::eventhubs
