// For tests: bytes as they are on the wire.
#pragma once

#include "amqp/performatives.h"

namespace evenkeel::amqp {

template <typename... Bytes>
Buffer bytes_of(Bytes... bytes) {
    return {static_cast<std::byte>(bytes)...};
}

template <typename Body>
Buffer encoded(const Body& body) {
    Buffer bytes;
    encode(body, bytes);
    return bytes;
}

inline Buffer written(auto write) {
    Buffer bytes;
    Encoder encoder(bytes);
    write(encoder);
    return bytes;
}

}  // namespace evenkeel::amqp
