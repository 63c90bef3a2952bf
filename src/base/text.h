// Text for comparing, and text from outside for messages.
#pragma once

#include <string>
#include <string_view>

namespace evenkeel {

// ASCII letters in lower case; all other bytes as they are.
std::string lower_case(std::string_view text);

// Whether both are equal when ASCII letters are compared without regard to case.
bool equal_without_case(std::string_view a, std::string_view b);

// For messages: at most 64 bytes, always whole UTF-8. Control characters and bytes that are not
// UTF-8 become '?'; "..." stands for what was cut off.
std::string shown(std::string_view text);

}  // namespace evenkeel
