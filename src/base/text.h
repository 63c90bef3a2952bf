// Text for comparing, and text from outside for messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace evenkeel {

// ASCII letters in lower case; all other bytes as they are.
std::string lower_case(std::string_view text);

// Whether both are equal when ASCII letters are compared without regard to case.
bool equal_without_case(std::string_view a, std::string_view b);

// Without `blanks` at both ends.
std::string_view trimmed(std::string_view text, std::string_view blanks = " \t");

// The whole characters in the first `bytes_max` bytes. Each byte that is not UTF-8, or of a control
// character that a terminal would obey, becomes '?'.
std::string printable(std::string_view text, std::size_t bytes_max = std::string_view::npos);

// For messages: printable, at most 64 bytes; "..." stands for what was cut off.
std::string shown(std::string_view text);

}  // namespace evenkeel
