// What a hub of ours says of itself in the properties of its AMQP `open`, before any token: which
// hub it is, and where its admin interface listens. So a client that knows only the connection
// string finds the admin interface of that hub, and can tell it from another's. SDKs ignore it.
#pragma once

#include <cstdint>
#include <string>

#include "amqp/codec.h"
#include "base/bytes.h"

namespace evenkeel::eventhubs {

struct Greeting {
    std::string identity;          // of the data folder; empty: the hub is none of ours
    std::uint16_t http_port = 0;   // of the admin interface, on the same host; 0: none
    std::uint16_t https_port = 0;  // the same with TLS
};

// As a map for `open`.
amqp::Buffer encode_greeting(const Greeting& greeting);
// Whatever is missing or malformed stays at its default.
Greeting decode_greeting(ByteView map);

}  // namespace evenkeel::eventhubs
