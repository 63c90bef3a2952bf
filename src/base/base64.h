// Base64 (RFC 4648) with padding, and base64url without padding as JSON Web Tokens use it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace evenkeel {

std::string base64_encoded(ByteView bytes);

// Nothing if the text is empty or is not base64 with its padding.
std::optional<std::string> base64_decoded(std::string_view text);

// Nothing if the text has other characters, padding, or bits left over.
std::optional<std::string> base64url_decoded(std::string_view text);

}  // namespace evenkeel
