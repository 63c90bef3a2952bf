// What hangs on one link of a client: see node_links.h, ingest.h and outflow.h.
// Ownership: the amqp::Link owns it, as its user. Threads: part of Peer, on the hub's loop.
#pragma once

#include <memory>
#include <optional>

#include "amqp/link.h"
#include "base/clock.h"
#include "door/auth/access.h"
#include "door/connections.h"
#include "door/quotas.h"

namespace evenkeel::door {

class Requests;
class Replies;

// The right a link needs as long as it lives.
struct Need {
    Right right = Right::send;
    Entity entity;
};

class PeerLink : public amqp::LinkUser {
public:
    virtual void on_delivery(const amqp::Delivery&) {}
    virtual void on_credit() {}
    // Goes on with what waited for room in the output.
    virtual void on_room() {}
    // The client has read nothing for a while: lets go of memory that can be had again. True if
    // there was some.
    virtual bool on_stall() { return false; }
    // The links of nodes; null for others.
    virtual const Requests* requests() const { return nullptr; }
    virtual Replies* replies() { return nullptr; }

    std::optional<Need> need = {};
    std::shared_ptr<Place> place = {};  // of the connection, in its event hub's quota
    std::unique_ptr<LinkUse> use = {};  // for operators; none: a link of a node
    std::optional<Instant> used = {};   // when something last came; none if that does not matter
};

}  // namespace evenkeel::door
