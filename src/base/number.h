// Integers from text.
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>

namespace evenkeel {

// The number that the whole text is. Nothing if the text is empty, has anything else in it (blanks
// and '+' too), or the number does not fit its type.
template <std::integral Number>
std::optional<Number> parse_number(std::string_view text, int base = 10) {
    Number number = 0;
    const char* const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, number, base);
    if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
    return number;
}

}  // namespace evenkeel
