#pragma once

#include <string>

#include "base/bytes.h"

namespace evenkeel {

// Two small digits a byte.
std::string to_hex(ByteView bytes);

}  // namespace evenkeel
