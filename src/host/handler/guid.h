// Ids of executions and processes. Threads: any.
#pragma once

#include <string>

#include <fmt/core.h>

#include "base/random.h"

namespace evenkeel::host {

// A random one: "8c1f0a52-…", 36 characters.
inline std::string new_guid() {
    const std::string hex = secure_hex(16);
    return fmt::format("{}-{}-{}-{}-{}", hex.substr(0, 8), hex.substr(8, 4), hex.substr(12, 4),
                       hex.substr(16, 4), hex.substr(20));
}

}  // namespace evenkeel::host
