// Connection strings: where an event hub is, and the key or token for it. Pure.
//
//   Endpoint=sb://host[:port][/];SharedAccessKeyName=...;SharedAccessKey=...[;EntityPath=hub]
//       [;SharedAccessSignature=...][;UseDevelopmentEmulator=true][;TransportType=AmqpWebSockets]
//   amqp://[key-name:key@]host[:port]/hub     amqps://...
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/secret.h"
#include "io/socket.h"

namespace evenkeel::eventhubs {

struct Target {
    io::Endpoint endpoint;
    bool tls = true;
    bool websocket = false;
    std::string event_hub;  // empty if the string names none
    // Name and key, or a finished token, or none of them: a hub that asks for nothing.
    std::string key_name;
    Secret key;
    Secret token;

    // "sb://host/hub": what a token is for.
    std::string audience() const { return "sb://" + endpoint.host + "/" + event_hub; }
};

// `invalid_argument` says which part is wrong and what it should be; never with a key in it.
Result<Target> parse_connection_string(std::string_view text);

}  // namespace evenkeel::eventhubs
