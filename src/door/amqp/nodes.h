// The nodes that clients talk to: $cbs takes tokens, $management describes hubs and partitions.
// Threads: part of Peer, on the hub's loop.
#pragma once

#include <cstddef>

#include "amqp/message.h"
#include "base/check.h"
#include "door/amqp/link_host.h"
#include "eventhubs/address.h"

namespace evenkeel::door {

class Nodes {
public:
    explicit Nodes(LinkHost& host) : host_(host) {}

    void handle(eventhubs::Address::Kind node, amqp::Link& link, const amqp::Request& request);

    // Replies that wait for the client's credit, on all links.
    std::size_t reply_bytes() const { return reply_bytes_; }
    void reply_waits(std::size_t bytes) { reply_bytes_ += bytes; }
    void reply_sent(std::size_t bytes) {
        EK_CHECK(bytes <= reply_bytes_, "a reply that waited is sent once");
        reply_bytes_ -= bytes;
    }

private:
    void answer(amqp::Link& from, eventhubs::Address::Kind node, const amqp::Request& request,
                amqp::Buffer message);
    void handle_cbs(amqp::Link& link, const amqp::Request& request);
    void handle_management(amqp::Link& link, const amqp::Request& request);

    LinkHost& host_;
    std::size_t reply_bytes_ = 0;
};

}  // namespace evenkeel::door
