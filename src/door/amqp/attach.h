// What a client's attach becomes: a link to a node, events in, events out, or a refusal.
// Threads: part of Peer, on the hub's loop.
#pragma once

#include <string_view>

#include "door/amqp/link_host.h"
#include "eventhubs/address.h"

namespace evenkeel::door {

class Ingest;
class Nodes;

class Attacher {
public:
    Attacher(LinkHost& host, Nodes& nodes) : host_(host), nodes_(nodes) {}

    void attach(amqp::Link& link);

private:
    void attach_node(amqp::Link& link, const eventhubs::Address& address);
    void attach_ingest(amqp::Link& link, const eventhubs::Address& address);
    void attach_outflow(amqp::Link& link, const eventhubs::Address& address);
    static void accept_ingest(amqp::Link& link, amqp::Attach reply);
    // With the producer's state in the reply; or refuses.
    void accept_producer(amqp::Link& link, Ingest& ingest, std::string_view hub,
                         PartitionId partition, amqp::Attach reply);
    // Refuses the link if its event hub has no place for the connection.
    bool find_place(amqp::Link& link, const Entity& entity, PeerLink& user);

    LinkHost& host_;
    Nodes& nodes_;
};

}  // namespace evenkeel::door
