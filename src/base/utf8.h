// Whether bytes are text: UTF-8 as RFC 3629 defines it, without overlong forms, surrogates and
// numbers beyond U+10FFFF.
#pragma once

#include <cstddef>
#include <string_view>

namespace evenkeel {

// Bytes of the character that `text` begins with; 0 if it begins with none, or is empty.
std::size_t utf8_character_bytes(std::string_view text);

bool is_utf8(std::string_view text);

}  // namespace evenkeel
