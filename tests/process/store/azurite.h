// The emulator that a script has started for these tests: $EVENKEEL_AZURITE is its endpoint.
#pragma once

#include <cstdlib>
#include <string>

#include <fmt/format.h>

#include "support/azurite_server.h"

namespace evenkeel::test {

inline bool has_azurite() {
    return std::getenv("EVENKEEL_AZURITE") != nullptr;
}

// Of a container that is created when it is first opened, a new one for each call.
inline std::string azurite_address() {
    return fmt::format("UseDevelopmentStorage=true;BlobEndpoint={};Container={};Create=true",
                       std::getenv("EVENKEEL_AZURITE"), new_container());
}

}  // namespace evenkeel::test
