// A session of a connection: numbers frames, holds links; see amqp/connection.h.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "amqp/performatives.h"
#include "base/bytes.h"

namespace evenkeel::amqp {

class Connection;
class Link;

class Session {
public:
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    Connection& connection() const { return connection_; }
    // Nothing goes out any more, and no link can be attached.
    bool is_ended() const { return ended_; }
    // Ends it with all its links, for each of which on_detach() is called.
    void end(const std::optional<Condition>& why);

private:
    friend class Connection;
    friend class Link;
    Session(Connection& connection, std::uint16_t local_channel);

    void take(Performative& performative, ByteView payload, std::size_t frame_bytes);
    void take(Attach& attach, std::size_t frame_bytes);
    void take(const Flow& flow);
    void take(const Transfer& transfer, ByteView payload);
    void take(const Detach& detach);
    void take(const Disposition& disposition);
    bool answer(Attach& attach, Role role);
    Link& add_link(Role role);
    Link* find(std::uint32_t remote_handle);
    std::vector<Link*> senders() const;
    std::uint32_t free_handle() const;
    void remove(Link& link);
    void end_links(const std::optional<Condition>& error);
    void send_flow(const Link* link);
    void widen_window();

    Connection& connection_;
    const std::uint16_t local_channel_;
    std::optional<std::uint16_t> remote_channel_;
    bool ended_ = false;
    std::uint32_t next_incoming_id_ = 0;
    std::uint32_t incoming_window_;
    std::uint32_t next_outgoing_id_;
    std::uint32_t remote_window_ = 0;
    std::uint32_t next_delivery_id_;
    std::uint32_t handle_max_ = 0xffffffff;                 // that the peer takes
    std::map<std::uint32_t, std::unique_ptr<Link>> links_;  // by local handle
    std::map<std::uint32_t, Link*> by_remote_;
    std::vector<bool> used_handles_;  // of the peer
    std::vector<std::unique_ptr<Link>> gone_;
};

}  // namespace evenkeel::amqp
