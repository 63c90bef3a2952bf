#include "base/text.h"

#include <algorithm>

#include "base/utf8.h"

namespace evenkeel {
namespace {

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
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

std::string shown(std::string_view text) {
    constexpr std::size_t bytes_max = 64;
    std::string result;
    while (!text.empty()) {
        const std::size_t size = utf8_character_bytes(text);
        const std::size_t taken = std::max<std::size_t>(size, 1);
        if (result.size() + taken > bytes_max) return result + "...";
        const bool is_control = static_cast<unsigned char>(text[0]) < 0x20 || text[0] == 0x7f;
        result += size == 0 || is_control ? "?" : text.substr(0, size);
        text.remove_prefix(taken);
    }
    return result;
}

}  // namespace evenkeel
