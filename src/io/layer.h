// A byte stream inside another one: TLS, WebSocket. The protocol is a Layer, which does no I/O; the
// Socket that layered() makes carries out what it says.
//
//     user ── plain ──▶ Layer ── wire ──▶ inner Socket
//          ◀──────────       ◀──────────
//
// The socket reads from the wire only while its user reads, or while the greeting of the protocol
// is under way, so the peer feels it when nobody listens. It holds at most `wire_bytes_max` of what
// is read and as much of what is written, besides what the layer holds of one unfinished record.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/result.h"
#include "io/loop.h"
#include "io/socket.h"

namespace evenkeel::io {

class Layer {
public:
    virtual ~Layer() = default;

    // True once the greeting is over: plain bytes may go both ways.
    virtual bool is_ready() const = 0;
    // Bytes from the wire; called when take() has nothing more. An error ends the stream; the
    // output may hold a last word about it.
    virtual Result<> receive(ByteView wire) = 0;
    // The peer has begun its stream. One that goes before that has said nothing, politely or not.
    virtual bool has_begun() const = 0;
    // The wire has ended, or was lost before the stream had begun. An error if the peer should have
    // said so before.
    virtual Result<> receive_end() = 0;
    // Moves plain bytes out; 0 if there are none now.
    virtual Result<std::size_t> take(ByteSpan plain) = 0;
    // The peer has ended its side, and all of it was taken.
    virtual bool has_ended() const = 0;

    // Once ready, and not after send_end().
    virtual Result<> send(ByteView plain) = 0;
    virtual void send_end() = 0;
    // Appends what is to go onto the wire, and forgets it.
    virtual void take_output(std::vector<std::byte>& into) = 0;
    // Nothing will go onto the wire any more once the output is written.
    virtual bool is_finished() const = 0;
};

// How long a greeting may take, so that half-open connections do not pile up.
inline constexpr Duration greeting_time_max = std::chrono::seconds(10);
inline constexpr std::size_t wire_bytes_max = std::size_t{64} * 1024;

// The greeting begins at once, and ends with `timed_out` after `greeting_time_max`. close() says
// goodbye as far as the wire takes it at once. `loop` is the inner socket's and outlives it.
std::unique_ptr<Socket> layered(Loop& loop, std::unique_ptr<Socket> inner,
                                std::unique_ptr<Layer> layer);

}  // namespace evenkeel::io
