// One AMQP 1.0 connection without I/O: bytes in, calls of a Handler, bytes out, time as an
// argument. The same code is server and client.
//
//     transport ──receive()──▶ frames ─▶ sessions ─▶ links ──on_…()──▶ Handler
//     transport ◀─take_output()─ frames ◀── accept, send, settle, grant, detach ──┘
//
// Invariants
//   AMQP-1  Malformed input ends this connection with the proper condition, and nothing else.
//   AMQP-2  A message is sent only with link credit and inside the peer's session window.
//   AMQP-3  All that a peer can grow is bounded: frame, sessions, links, half-received messages,
//           and answers that it does not read.
//   AMQP-4  A delivery is handed on once, whole, with its message format; its bytes are the frame's
//           own unless it came in several frames.
// The handler may call back into connection, sessions and links at any time, but not receive().
// A link is destroyed after on_detach() has returned and a session after on_end() has, in the same
// receive(), lost() or tick() or the next, never before. A link that was detached by us is not
// heard of again. Threads: pinned to whoever owns it.
#pragma once

#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <vector>

#include "amqp/link.h"
#include "amqp/performatives.h"
#include "amqp/session.h"
#include "base/bytes.h"
#include "base/clock.h"

namespace evenkeel::amqp {

struct ConnectionOptions {
    bool is_server = true;
    std::string container;
    std::string hostname;                   // of the peer; a client's
    Buffer properties;                      // of our open, an encoded map; empty: none
    std::uint32_t max_frame_bytes = 65536;  // that we accept, and write at most
    std::uint16_t channel_max = 4999;
    std::uint32_t handle_max = 255;            // links of a session
    std::uint32_t links_max = 5000;            // of the connection, with those half detached
    std::uint64_t attach_bytes_max = 4 << 20;  // of the frames that described them
    std::uint32_t session_window = 5000;       // transfer frames
    std::uint32_t first_transfer_id = 1;       // wraps at 2^32, as delivery ids do
    std::uint64_t max_message_bytes = 1 << 20;
    std::uint64_t partial_bytes_max = 16 << 20;  // of messages that are not yet complete
    // Memory of output that is used again; given back when a tick finds it unused.
    std::size_t kept_output_bytes_max = 256 << 10;
    // Frames other than transfers that wait to be taken: the peer asks and does not read.
    std::uint64_t answer_bytes_max = 4 << 20;
    std::chrono::milliseconds idle_timeout{120'000};  // 0: none
    // From the start to the peer's open, and from our close to the peer's.
    std::chrono::milliseconds handshake_timeout{10'000};
    std::vector<std::string> mechanisms = {"MSSBCBS", "PLAIN", "ANONYMOUS", "EXTERNAL"};
    // A client's: how it says who it is. Empty: without SASL.
    std::string mechanism = "ANONYMOUS";
    std::string response;
};

class Handler {
public:
    virtual ~Handler() = default;

    // A server's: is the peer let in?
    virtual bool on_sasl(const SaslInit& init) = 0;
    virtual void on_open(const Open& open) = 0;
    // The peer attached: answer with link.accept() or link.refuse(), now or later.
    virtual void on_attach(Link& link) = 0;
    // The peer answered our attach. Refused if its terminus is missing; a detach follows then.
    virtual void on_attached(Link&) {}
    virtual void on_delivery(Link& link, const Delivery& delivery) = 0;
    // A sender may have become able to send.
    virtual void on_credit(Link& link) = 0;
    // The peer's word on what we sent unsettled.
    virtual void on_disposition(Link&, const Disposition&) {}
    // The link ends: by the peer, or with its session or connection.
    virtual void on_detach(Link& link, const std::optional<Condition>& error) = 0;
    // The peer has ended the session, first or after us, and it is destroyed. Its links have been
    // detached. Not called for sessions that end with the connection.
    virtual void on_end(Session&, const std::optional<Condition>&) {}
    // Nothing more comes in. What is still to go out may be sent.
    virtual void on_closed(const std::optional<Condition>& error) = 0;
};

class Connection {
public:
    Connection(ConnectionOptions options, Handler& handler, Instant now);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    // What came from the peer, cut anywhere.
    void receive(ByteView bytes, Instant now);
    // The transport has ended.
    void lost();
    // Swaps what is to be sent into `buffer`, whose own content is dropped.
    void take_output(Buffer& buffer);
    std::size_t output_bytes() const { return output_.size(); }
    // Close the transport once the output is sent.
    bool is_closed() const { return state_ == State::closed; }

    // Keep-alives and time-outs; returns when to call again.
    Instant tick(Instant now);

    // Ends all links, sessions and the connection, saying why.
    void close(const std::optional<Condition>& error);

    // A client's, between on_open() and on_closed(). Otherwise the session is born ended; a link of
    // an ended session is never attached, and not heard of.
    Session& begin();
    Link& attach(Session& session, Attach attach);

    const Open& peer() const { return peer_; }
    const ConnectionOptions& options() const { return options_; }

private:
    friend class Session;
    friend class Link;
    enum class State : std::uint8_t {
        header,   // waits for a protocol header
        sasl,     // between SASL header and outcome
        opening,  // waits for open
        open,
        closing,  // we sent close, the peer has not
        closed,
    };

    // While one is there, nothing that has ended is destroyed.
    class Inside {
    public:
        explicit Inside(Connection& connection) : depth_(connection.depth_) { ++depth_; }
        ~Inside() { --depth_; }
        Inside(const Inside&) = delete;
        Inside& operator=(const Inside&) = delete;

    private:
        int& depth_;
    };

    void receive_partial(ByteView& bytes);
    void take_header(ByteView bytes);
    // Size of the frame that begins `bytes`; 0 if not even its size is there yet.
    std::size_t frame_bytes(ByteView bytes);
    void take_frame(ByteView frame);
    void take_sasl(ByteView body);
    void take_amqp(std::uint16_t channel, ByteView body);
    void take_unknown(std::uint16_t channel);
    void refuse_sasl(std::string_view why);
    void take(const Open& open);
    void take(const Close& close);
    void take(std::uint16_t channel, const Begin& begin);
    void end_session(std::uint16_t remote_channel, const std::optional<Condition>& error);
    void send_open();
    void fail(std::string_view condition, std::string description);
    void end_all(const std::optional<Condition>& error);
    Session* find(std::uint16_t remote_channel);
    std::uint16_t free_channel() const;
    void collect();

    // A frame under construction: begin_frame() ... end_frame() with the body appended between.
    std::size_t begin_frame(std::uint16_t channel, std::uint8_t type = 0);
    void end_frame(std::size_t at);
    // A body that does not fit the peer's frames is shortened if it can be; otherwise the
    // connection is doomed: it fails when the call that wrote is over.
    template <typename Body>
    void write(std::uint16_t channel, const Body& body);
    void write_sasl(const Performative& body);
    bool fail_if_doomed();
    std::uint32_t frame_limit() const;
    // Memory for messages of several frames, so that each does not ask the system for it anew.
    void borrow(Buffer& to);
    void give_back(Buffer from);
    void release_unused();

    const ConnectionOptions options_;
    Handler& handler_;
    State state_ = State::header;
    bool sasl_begun_ = false;  // a client has answered the mechanisms
    bool sasl_done_ = false;
    bool open_sent_ = false;
    bool notified_closed_ = false;
    bool doomed_ = false;
    int depth_ = 0;  // of calls that may be inside an ended session or link
    Open peer_;
    Buffer partial_;
    Buffer output_;
    Buffer spare_;
    bool is_busy_ = false;  // has sent, or received what takes several frames, since the last tick
    std::map<std::uint16_t, std::unique_ptr<Session>> sessions_;  // by local channel
    std::map<std::uint16_t, Session*> by_remote_;
    std::vector<std::unique_ptr<Session>> ended_;
    std::vector<bool> used_channels_;
    std::uint32_t link_count_ = 0;
    std::uint64_t attach_bytes_ = 0;
    std::uint64_t partial_bytes_ = 0;
    std::uint64_t answer_bytes_ = 0;
    Instant now_;
    Instant received_at_;
    Instant sent_at_;
    Instant handshake_at_;
};

}  // namespace evenkeel::amqp
