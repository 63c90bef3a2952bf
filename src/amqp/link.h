// Sessions and links of a connection; see amqp/connection.h.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "amqp/performatives.h"
#include "base/bytes.h"

namespace evenkeel::amqp {

class Connection;
class Session;

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
    // Ends the link; on_detach() is not called for it.
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
    void finish_delivery(ByteView bytes);
    void drop_partial();
    void send_rest();
    void write_frame(const Transfer& transfer, ByteView payload);
    bool write_small(ByteView prefix, ByteView body, std::uint32_t message_format, bool settled);

    Session& session_;
    const Role role_;
    const std::uint32_t local_handle_;
    State state_ = State::attaching;
    bool ours_ = false;  // we attached first
    Attach peer_;
    Attach local_;
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
};

class Session {
public:
    Connection& connection() const { return connection_; }
    void end(const std::optional<Condition>& why);

private:
    friend class Connection;
    friend class Link;
    Session(Connection& connection, std::uint16_t local_channel)
        : connection_(connection), local_channel_(local_channel) {}

    void take(Performative& performative, ByteView payload);
    void take(Attach& attach);
    void take(const Flow& flow);
    void take(const Transfer& transfer, ByteView payload);
    void take(const Detach& detach);
    void take(const Disposition& disposition);
    Link& add_link(Role role);
    Link* find(std::uint32_t remote_handle);
    void remove(Link& link);
    void end_links(const std::optional<Condition>& error);
    void send_flow(const Link* link, bool echo);
    void widen_window();

    Connection& connection_;
    const std::uint16_t local_channel_;
    std::optional<std::uint16_t> remote_channel_;
    bool ended_ = false;  // nothing goes out any more
    std::uint32_t next_incoming_id_ = 0;
    std::uint32_t incoming_window_ = 0;
    std::uint32_t next_outgoing_id_ = 0;
    std::uint32_t remote_window_ = 0;
    std::uint32_t next_delivery_id_ = 0;
    std::uint32_t handle_max_ = 0xffffffff;
    std::map<std::uint32_t, std::unique_ptr<Link>> links_;  // by local handle
    std::map<std::uint32_t, Link*> by_remote_;
    std::vector<std::unique_ptr<Link>> gone_;
};

}  // namespace evenkeel::amqp
