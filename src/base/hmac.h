// HMAC-SHA256 (RFC 2104), which signs tokens and requests.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "base/secret.h"

namespace evenkeel {

std::array<std::byte, 32> hmac_sha256(std::string_view text, const Secret& key);

}  // namespace evenkeel
