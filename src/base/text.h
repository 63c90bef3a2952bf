// Text for comparing, and text from outside for messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace evenkeel {

// ASCII letters in lower case; all other bytes as they are.
std::string lower_case(std::string_view text);

// Whether both are equal when ASCII letters are compared without regard to case.
bool equal_without_case(std::string_view a, std::string_view b);

// Without `blanks` at both ends.
std::string_view trimmed(std::string_view text, std::string_view blanks = " \t");

// The number of the character, which is UTF-8, if a terminal would obey it: control characters
// (U+0000 to U+001F, U+007F to U+009F) and those that change the direction of text. Else
// 0xffffffff.
std::uint32_t control_code(std::string_view character);

// The whole characters in the first `bytes_max` bytes. Each byte that is not UTF-8, or of a
// character that a terminal would obey, becomes '?'.
std::string printable(std::string_view text, std::size_t bytes_max = std::string_view::npos);

// For terminals: lines and tabs as they are, what is not UTF-8 as \xff, and every other character
// that a terminal would obey as \x1b or \u202e.
std::string visible(std::string_view text);

// JSON in which such characters are escaped; its meaning stays.
std::string json_without_controls(std::string_view json);

// For messages: printable, at most 64 bytes; "..." stands for what was cut off.
std::string shown(std::string_view text);

}  // namespace evenkeel
