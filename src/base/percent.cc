#include "base/percent.h"

#include <cstdint>

#include "base/number.h"

namespace evenkeel {
namespace {

// The byte of a "%XX" at the beginning of `text`.
std::optional<std::uint8_t> escaped_byte(std::string_view text) {
    if (text.size() < 3) return std::nullopt;
    return parse_number<std::uint8_t>(text.substr(1, 2), 16);
}

bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.' || c == '~';
}

}  // namespace

std::string percent_encoded(std::string_view text, std::string_view also_plain) {
    constexpr char digits[] = "0123456789ABCDEF";
    std::string result;
    for (const char c : text) {
        if (is_plain(c) || also_plain.find(c) != std::string_view::npos) {
            result += c;
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        result += '%';
        result += digits[byte >> 4];
        result += digits[byte & 0xf];
    }
    return result;
}

std::string percent_decoded(std::string_view text) {
    std::string result;
    while (!text.empty()) {
        const auto byte = text.front() == '%' ? escaped_byte(text) : std::nullopt;
        result += byte ? static_cast<char>(*byte) : text.front();
        text.remove_prefix(byte ? 3 : 1);
    }
    return result;
}

std::optional<std::string> percent_decoded_strictly(std::string_view text) {
    std::string result;
    while (!text.empty()) {
        const bool is_escaped = text.front() == '%';
        const auto byte = is_escaped ? escaped_byte(text) : std::nullopt;
        if (is_escaped && !byte) return std::nullopt;
        result += byte ? static_cast<char>(*byte) : text.front();
        text.remove_prefix(byte ? 3 : 1);
    }
    return result;
}

}  // namespace evenkeel
