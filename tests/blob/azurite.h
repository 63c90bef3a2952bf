// The emulator that a script has started for these tests: $EVENKEEL_AZURITE is its endpoint.
#pragma once

#include <cstdlib>
#include <span>
#include <string>

#include <fmt/format.h>

#include "base/random.h"

namespace evenkeel::test {

inline bool has_azurite() {
    return std::getenv("EVENKEEL_AZURITE") != nullptr;
}

// Of a container that is created when it is first opened, a new one for each call.
inline std::string azurite_address() {
    std::uint64_t name = 0;
    secure_bytes(std::as_writable_bytes(std::span(&name, 1)));
    return fmt::format("UseDevelopmentStorage=true;BlobEndpoint={};Container=t{:016x};Create=true",
                       std::getenv("EVENKEEL_AZURITE"), name);
}

}  // namespace evenkeel::test
