// Where events go, as a caller may say it.
#pragma once

#include <cstddef>

#include "base/result.h"
#include <evenkeel/hub.h>

namespace evenkeel::producer {

inline constexpr std::size_t key_characters_max = 128;

// A partition, a key, or neither.
inline Result<> check_route(const Route& route) {
    if (route.partition && !route.partition_key.empty()) {
        return Error{ErrorCode::invalid_argument,
                     "events go to a partition or to the one of their key; give one of the two"};
    }
    std::size_t characters = 0;
    for (const char c : route.partition_key) {
        if ((static_cast<unsigned char>(c) & 0xc0) != 0x80) ++characters;
    }
    if (characters > key_characters_max) {
        return Error{ErrorCode::invalid_argument, "a partition key has at most 128 characters"};
    }
    return {};
}

}  // namespace evenkeel::producer
