// The attached links of one client, in the order they came, with what hangs on them.
//
// Invariant: a link in the table has a PeerLink as its user; add() is the only place that sets it.
// Ownership: the connection owns the links. Threads: part of Peer, on the hub's loop.
#pragma once

#include <memory>
#include <vector>

#include "door/amqp/peer_context.h"
#include "door/amqp/peer_link.h"
#include "door/amqp/wire.h"

namespace evenkeel::door {

class LinkTable {
public:
    struct Entry {
        amqp::Link* link;
        PeerLink* user;
    };

    LinkTable(const PeerContext& context, Wire& wire);
    ~LinkTable();
    LinkTable(const LinkTable&) = delete;
    LinkTable& operator=(const LinkTable&) = delete;

    void add(amqp::Link& link, std::unique_ptr<PeerLink> user);
    // Takes the link out, and destroys what hung on it: a reader's place is free at once.
    void remove(amqp::Link& link);
    // Takes the link out and detaches it; the client's answer needs no more doing. What hung on it
    // stays until then, since it may be the caller.
    void drop(amqp::Link& link, const amqp::Condition& why);
    // The connection has ended, and all links with it.
    void clear();

    // What hangs on the link; null if nothing does, or not any more.
    static PeerLink* user_of(const amqp::Link& link);
    const std::vector<Entry>& entries() const { return entries_; }
    bool empty() const { return entries_.empty(); }
    Instant unused_since() const { return unused_since_; }
    void use(Instant now) { unused_since_ = now; }

private:
    void forget(amqp::Link& link);
    void check_state() const;

    const PeerContext& context_;
    Wire& wire_;
    std::vector<Entry> entries_;
    Instant unused_since_;
};

}  // namespace evenkeel::door
