// WebSocket (RFC 6455) as a byte stream: binary messages of any shape carry it, and where they
// begin and end means nothing. Both ends are io::Sockets with the contract of io/socket.h.
//
//     GET /$servicebus/websocket, Sec-WebSocket-Protocol: AMQPWSB10
//     ◀── 101 ──   then   ── masked frames ──▶   ◀── frames ──
//
// Pings are answered while the socket is read from; of several at once, the last. finish() says
// Close; a peer's Close is answered when our side finishes or closes, so that both directions end
// on their own. Text is refused with 1003, what breaks the protocol with 1002, and a frame of more
// than `frame_bytes_max` with 1009: reads then end with `invalid_argument`.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "http/message.h"
#include "io/layer.h"
#include "io/loop.h"
#include "io/socket.h"

namespace evenkeel::http {

inline constexpr std::uint64_t frame_bytes_max = std::uint64_t{16} << 20;

// A request that asks for a WebSocket, or means to.
bool is_upgrade(const Request& request);

struct UpgradeAnswer {
    Response response;  // 101, or why not
    std::string subprotocol;
};
// `subprotocols` are those that are spoken there; the client's first choice among them is taken.
UpgradeAnswer answer_upgrade(const Request& request, const std::vector<std::string>& subprotocols);

// After the answer. `received` are the bytes that came behind the request.
std::unique_ptr<io::Socket> websocket_server(io::Loop& loop, std::unique_ptr<io::Socket> inner,
                                             ByteView received);

struct WebSocketTarget {
    std::string host;  // for the field Host, with its port if that is not the usual one
    std::string path = "/$servicebus/websocket";
    std::string subprotocol = "AMQPWSB10";
};
// Asks at once; until the answer is there, reads and writes wait. They end with `invalid_argument`
// if it is no 101 as it must be, with not_found for a 404, with unavailable for a 5xx.
std::unique_ptr<io::Socket> websocket_client(io::Loop& loop, std::unique_ptr<io::Socket> inner,
                                             const WebSocketTarget& target);

// The protocol alone, for fuzzers.
std::unique_ptr<io::Layer> websocket_server_layer();
std::unique_ptr<io::Layer> websocket_client_layer(const WebSocketTarget& target);

}  // namespace evenkeel::http
