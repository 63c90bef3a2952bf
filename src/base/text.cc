#include "base/text.h"

#include <algorithm>

#include "base/utf8.h"

namespace evenkeel {
namespace {

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

constexpr std::uint32_t no_code = 0xffffffff;

std::string hex_escape(char letter, std::uint32_t value, int digits) {
    std::string result{'\\', letter};
    for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) {
        result += "0123456789abcdef"[value >> shift & 15U];
    }
    return result;
}

}  // namespace

std::uint32_t control_code(std::string_view character) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
    std::uint32_t code = no_code;
    if (character.size() == 1) code = byte(0);
    if (character.size() == 2) code = (byte(0) & 0x1fU) << 6 | (byte(1) & 0x3fU);
    if (character.size() == 3) {
        code = (byte(0) & 0x0fU) << 12 | (byte(1) & 0x3fU) << 6 | (byte(2) & 0x3fU);
    }
    const bool is_control = code < 0x20 || (code >= 0x7f && code < 0xa0);
    const bool turns_text = code == 0x061c || code == 0x200e || code == 0x200f ||
                            (code >= 0x202a && code <= 0x202e) ||
                            (code >= 0x2066 && code <= 0x2069);
    return is_control || turns_text ? code : no_code;
}

std::string lower_case(std::string_view text) {
    std::string result(text);
    std::ranges::transform(result, result.begin(), lower);
    return result;
}

bool equal_without_case(std::string_view a, std::string_view b) {
    return std::ranges::equal(a, b, {}, lower, lower);
}

std::string_view trimmed(std::string_view text, std::string_view blanks) {
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string printable(std::string_view text, std::size_t bytes_max) {
    std::string result;
    while (!text.empty()) {
        const std::size_t size = utf8_character_bytes(text);
        const std::size_t taken = std::max<std::size_t>(size, 1);
        if (taken > bytes_max - result.size()) break;
        if (size == 0 || control_code(text.substr(0, size)) != no_code) {
            result.append(taken, '?');
        } else {
            result += text.substr(0, size);
        }
        text.remove_prefix(taken);
    }
    return result;
}

std::string visible(std::string_view text) {
    std::string result;
    result.reserve(text.size());
    while (!text.empty()) {
        const std::size_t size = utf8_character_bytes(text);
        const std::string_view character = text.substr(0, std::max<std::size_t>(size, 1));
        const std::uint32_t code = size == 0 ? no_code : control_code(character);
        if (size == 0) {
            result += hex_escape('x', static_cast<unsigned char>(character[0]), 2);
        } else if (code == no_code || code == '\n' || code == '\t') {
            result += character;
        } else {
            result += code < 0x100 ? hex_escape('x', code, 2) : hex_escape('u', code, 4);
        }
        text.remove_prefix(character.size());
    }
    return result;
}

std::string json_without_controls(std::string_view json) {
    std::string result;
    result.reserve(json.size());
    while (!json.empty()) {
        const std::size_t size = utf8_character_bytes(json);
        const std::string_view character = json.substr(0, std::max<std::size_t>(size, 1));
        const std::uint32_t code = size == 0 ? no_code : control_code(character);
        // Below that, only white space between values; strings have it escaped already.
        if (code != no_code && code >= 0x7f) {
            result += hex_escape('u', code, 4);
        } else {
            result += character;
        }
        json.remove_prefix(character.size());
    }
    return result;
}

std::string shown(std::string_view text) {
    constexpr std::size_t bytes_max = 64;
    std::string result = printable(text, bytes_max);
    if (result.size() < text.size()) result += "...";
    return result;
}

}  // namespace evenkeel
