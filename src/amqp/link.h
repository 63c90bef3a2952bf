// A link of a session: messages in one direction; see amqp/connection.h.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "amqp/performatives.h"
#include "amqp/session.h"
#include "base/bytes.h"

namespace evenkeel::amqp {

// Numbers that wrap at 2^32 (RFC 1982): whether `a` comes before `b`, and how far `b` is ahead of
// `a`, 0 if it is not.
constexpr bool serial_less(std::uint32_t a, std::uint32_t b) {
    return b - a - 1 < 0x7fffffff;
}
constexpr std::uint32_t serial_distance(std::uint32_t a, std::uint32_t b) {
    return serial_less(a, b) ? b - a : 0;
}

// A whole message that came in.
struct Delivery {
    std::uint32_t id = 0;
    std::uint32_t message_format = 0;
    bool settled = false;
    bool too_large = false;  // longer than the link's limit: its bytes were dropped
    std::uint64_t size = 0;
    ByteView bytes;  // valid during the call
};

// What the owner of the connection keeps with a link.
class LinkUser {
public:
    virtual ~LinkUser() = default;
};

class Link {
public:
    // Ours: a sender sends to the peer.
    Role role() const { return role_; }
    const Attach& peer() const { return peer_; }
    Session& session() const { return session_; }
    Connection& connection() const;
    bool is_attached() const { return state_ == State::attached; }

    std::unique_ptr<LinkUser> user;

    // Answers the peer's attach. Name, handle and role are filled in.
    void accept(Attach reply);
    // An attach with null termini, then a detach that says why.
    void refuse(const Condition& why);
    // Ends the link; on_detach() is not called for it. It is destroyed when the peer has answered,
    // or with its session.
    void detach(const std::optional<Condition>& why);

    // A receiver's.
    // Lets the peer send so many messages from now on.
    void grant(std::uint32_t credit);
    std::uint32_t granted() const { return credit_; }
    void settle(std::uint32_t delivery_id, const DeliveryState& state);

    // A sender's.
    std::uint32_t credit() const { return credit_; }
    // Credit, room in the peer's session window, and nothing half sent.
    bool can_send() const;
    // One message: prefix and body, one behind the other. can_send() holds.
    // Returns its delivery id.
    std::uint32_t send(ByteView prefix, ByteView body, std::uint32_t message_format, bool settled);
    // The same for a settled message of format 0 whose prefix has head_bytes of room in front,
    // which are written to.
    static constexpr std::size_t head_bytes = 39;
    std::uint32_t send_behind_head(ByteSpan prefix, ByteView body);
    // For who need not hold all of a large message: one frame of it, of `bytes_max` at most, behind
    // the first `sent` bytes of prefix and body. With none sent can_send() holds, then can_go_on(),
    // until all of it was; each time with the same bytes. A settled message of format 0. Returns
    // how many bytes went out.
    std::size_t send_part(ByteView prefix, ByteView body, std::size_t sent, std::size_t bytes_max);
    // Half of a message was sent by send_part(), and the window has room for more.
    bool can_go_on() const;
    // The peer wants no more than we have: gives back the credit.
    bool drain() const { return drain_; }
    void drained();

private:
    friend class Connection;
    friend class Session;
    enum class State : std::uint8_t { attaching, attached, detaching, refused, gone };

    Link(Session& session, Role role, std::uint32_t local_handle)
        : session_(session), role_(role), local_handle_(local_handle) {}

    void take(const Flow& flow);
    void take(const Transfer& transfer, ByteView payload);
    bool begin_delivery(const Transfer& transfer);
    void finish_delivery(ByteView bytes);
    void drop_partial();
    void send_large(ByteView prefix, ByteView body, std::uint32_t message_format, bool settled);
    void send_rest();
    void write_frame(const Transfer& transfer, ByteView first, ByteView second);
    bool fits_frame(std::size_t bytes) const;
    // Frame header and transfer of a message of so many bytes that fits one frame.
    void write_head(std::byte* to, std::size_t bytes, std::uint32_t message_format, bool settled);
    void write_null_attach();
    bool is_live() const { return state_ == State::attached || state_ == State::attaching; }

    Session& session_;
    const Role role_;
    const std::uint32_t local_handle_;
    State state_ = State::attaching;
    bool ours_ = false;      // we attached first
    bool answered_ = false;  // and the peer has too
    Attach peer_;
    std::string local_name_;        // of ours
    std::size_t attach_bytes_ = 0;  // of the peer's attach frame
    std::uint32_t initial_count_ = 0;
    std::uint32_t delivery_count_ = 0;
    std::uint32_t credit_ = 0;
    bool drain_ = false;
    std::uint64_t limit_bytes_ = 0;

    // A message that is coming in.
    std::optional<Delivery> incoming_;
    Buffer incoming_bytes_;
    // A message that is going out and did not fit into the peer's window.
    Buffer rest_;
    std::size_t rest_from_ = 0;
    bool half_sent_ = false;  // by send_part()
};

}  // namespace evenkeel::amqp
