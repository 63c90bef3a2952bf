// Numbers from text.
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string_view>

namespace evenkeel {

template <typename Number>
concept ReadableNumber = std::integral<Number> || std::floating_point<Number>;

// The number that the whole text is. Nothing if the text is empty, has anything else in it (blanks
// and '+' too), or the number does not fit its type. `base` is for integers.
template <ReadableNumber Number>
std::optional<Number> parse_number(std::string_view text, int base = 10) {
    Number number{};
    const char* const end = text.data() + text.size();
    std::from_chars_result parsed{};
    if constexpr (std::integral<Number>) {
        parsed = std::from_chars(text.data(), end, number, base);
    } else {
        parsed = std::from_chars(text.data(), end, number);
    }
    if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
    return number;
}

// The number that the text begins with; it is taken off the text. Nothing, and the text stays as it
// was, if there is none or it does not fit its type.
template <ReadableNumber Number>
std::optional<Number> take_number(std::string_view& text) {
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return number;
}

// As parse_number() into `to`, which keeps its value if this returns false.
template <ReadableNumber Number>
bool read_number(std::string_view text, Number& to) {
    const auto number = parse_number<Number>(text);
    if (number) to = *number;
    return number.has_value();
}

}  // namespace evenkeel
