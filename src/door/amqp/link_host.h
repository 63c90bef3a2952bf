// What a client's links and nodes need of its connection. Peer implements it.
//
// Cost: links keep references to the parts they use for each event (wire), so that no event costs a
// virtual call.
// Threads: part of Peer, on the hub's loop.
#pragma once

#include <string>
#include <string_view>

#include "amqp/performatives.h"
#include "base/lifetime.h"
#include "door/amqp/events.h"
#include "door/amqp/link_table.h"
#include "door/amqp/login.h"
#include "door/amqp/peer_context.h"
#include "door/amqp/wire.h"

namespace evenkeel::door {

class LinkHost {
public:
    virtual const PeerContext& context() const = 0;
    virtual const Visitor& visitor() const = 0;
    // By which the client reached us, as it says; empty if it does not.
    virtual std::string_view host_name() const = 0;
    virtual Wire& wire() = 0;
    virtual Login& login() = 0;
    virtual LinkTable& links() = 0;
    virtual Incoming& incoming() = 0;  // one decoder for all links, used within a call
    // Tells the client why, and ends the connection.
    virtual void close(const amqp::Condition& why) = 0;
    // Bytes that were taken from the client and go to the disk; then durable or refused.
    virtual void append_begun(std::uint64_t bytes) = 0;
    virtual void append_ended(std::uint64_t bytes) = 0;
    // Null once the connection is gone.
    virtual Lifetime::Handle<LinkHost> handle() = 0;

    // With what operators search their logs for.
    amqp::Condition tracked(amqp::Condition condition, std::string_view entity) const;
    std::string url_of(std::string_view path) const;
    // Refuses the link, and reports it to operators.
    void refuse(amqp::Link& link, const amqp::Condition& why, std::string_view entity) const;

protected:
    ~LinkHost() = default;
};

}  // namespace evenkeel::door
