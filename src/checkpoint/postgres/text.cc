#include "checkpoint/postgres/text.h"

#include <cstdint>
#include <optional>

namespace evenkeel::checkpoint {

namespace {

constexpr std::string_view digits = "0123456789abcdef";

void append_hex(std::string& text, unsigned char byte) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
}

std::optional<unsigned char> from_hex(std::string_view two) {
    if (two.size() < 2) return {};
    const std::size_t high = digits.find(two[0]);
    const std::size_t low = digits.find(two[1]);
    if (high == digits.npos || low == digits.npos) return {};
    return static_cast<unsigned char>(high << 4 | low);
}

unsigned char at(std::string_view text, std::size_t i) {
    return static_cast<unsigned char>(text[i]);
}

// Bytes of the UTF-8 character in front, 0 if it is none: neither overlong nor a surrogate.
std::size_t character_bytes(std::string_view text) {
    const unsigned char first = at(text, 0);
    if (first < 0x80) return first == 0 ? 0 : 1;
    const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
    if (size == 0 || text.size() < size || first > 0xf4) return 0;
    for (std::size_t i = 1; i < size; ++i) {
        if ((at(text, i) & 0xc0) != 0x80) return 0;
    }
    const unsigned char second = at(text, 1);
    if (first == 0xe0 && second < 0xa0) return 0;
    if (first == 0xed && second > 0x9f) return 0;
    if (first == 0xf0 && second < 0x90) return 0;
    if (first == 0xf4 && second > 0x8f) return 0;
    return size;
}

}  // namespace

std::string to_postgres_text(std::string_view bytes) {
    std::string text;
    text.reserve(bytes.size());
    while (!bytes.empty()) {
        const std::size_t size = character_bytes(bytes);
        if (bytes[0] == '\\') {
            text += "\\\\";
        } else if (size == 0) {
            text += "\\x";
            append_hex(text, at(bytes, 0));
        } else {
            text += bytes.substr(0, size);
        }
        bytes.remove_prefix(size == 0 ? 1 : size);
    }
    return text;
}

std::string from_postgres_text(std::string_view text) {
    std::string bytes;
    bytes.reserve(text.size());
    while (!text.empty()) {
        std::size_t taken = 1;
        if (text.starts_with("\\\\")) {
            bytes += '\\';
            taken = 2;
        } else if (const auto byte = text.starts_with("\\x") ? from_hex(text.substr(2))
                                                             : std::optional<unsigned char>()) {
            bytes += static_cast<char>(*byte);
            taken = 4;
        } else {
            bytes += text[0];
        }
        text.remove_prefix(taken);
    }
    return bytes;
}

std::string to_postgres_bytes(ByteView bytes) {
    std::string text = "\\x";
    text.reserve(2 + 2 * bytes.size());
    for (const std::byte byte : bytes) append_hex(text, std::to_integer<unsigned char>(byte));
    return text;
}

std::vector<std::byte> from_postgres_bytes(std::string_view text) {
    std::vector<std::byte> bytes;
    if (!text.starts_with("\\x")) return bytes;
    bytes.reserve(text.size() / 2);
    for (text.remove_prefix(2); !text.empty(); text.remove_prefix(2)) {
        const auto byte = from_hex(text);
        if (!byte) break;
        bytes.push_back(std::byte{*byte});
    }
    return bytes;
}

void PostgresArray::add_plain(std::string_view element) {
    if (text_.size() > 1) text_ += ',';
    text_ += element;
}

void PostgresArray::add_quoted(std::string_view element) {
    if (text_.size() > 1) text_ += ',';
    text_ += '"';
    for (const char c : element) {
        if (c == '"' || c == '\\') text_ += '\\';
        text_ += c;
    }
    text_ += '"';
}

std::string PostgresArray::take() {
    std::string taken;
    taken.swap(text_);
    taken.push_back('}');
    text_.push_back('{');
    return taken;
}

}  // namespace evenkeel::checkpoint
