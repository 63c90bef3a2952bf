#include "base/text.h"

#include <algorithm>

#include "base/utf8.h"

namespace evenkeel {
namespace {

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// U+0000 to U+001F, U+007F to U+009F.
bool is_control(std::string_view character) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
    if (character.size() == 1) return byte(0) < 0x20 || byte(0) == 0x7f;
    return character.size() == 2 && byte(0) == 0xc2 && byte(1) < 0xa0;
}

}  // namespace

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
        if (size == 0 || is_control(text.substr(0, size))) {
            result.append(taken, '?');
        } else {
            result += text.substr(0, size);
        }
        text.remove_prefix(taken);
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
