// A JSON string must be UTF-8; what a handler or another program said may be anything.
#pragma once

#include <string>

#include "base/text.h"
#include "base/utf8.h"

namespace evenkeel::cli {

inline std::string json_text(const std::string& text) {
    return is_utf8(text) ? text : printable(text);
}

}  // namespace evenkeel::cli
