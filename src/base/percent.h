// Percent encoding, as URLs and shared access signatures use it (RFC 3986).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace evenkeel {

// Everything but letters, digits, -_.~ and the characters of `also_plain` becomes %XX.
std::string percent_encoded(std::string_view text, std::string_view also_plain = {});

// Lenient: a % without two hexadecimal digits behind it stays as it is.
std::string percent_decoded(std::string_view text);

// Strict: nothing if a % has no two hexadecimal digits behind it.
std::optional<std::string> percent_decoded_strictly(std::string_view text);

}  // namespace evenkeel
