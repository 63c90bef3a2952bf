// A client's links to $cbs and $management: requests come in, replies go out.
// Threads: part of Peer, on the hub's loop.
#pragma once

#include <deque>

#include "door/amqp/link_host.h"
#include "door/amqp/peer_link.h"
#include "eventhubs/address.h"

namespace evenkeel::door {

class Nodes;

// A client's sender to $cbs or $management.
class Requests final : public PeerLink {
public:
    static constexpr std::uint32_t credit = 100;

    Requests(LinkHost& host, Nodes& nodes, amqp::Link& link, eventhubs::Address::Kind which)
        : node(which), host_(host), nodes_(nodes), link_(link) {}
    void on_delivery(const amqp::Delivery& delivery) override;
    const Requests* requests() const override { return this; }

    const eventhubs::Address::Kind node;

private:
    LinkHost& host_;
    Nodes& nodes_;
    amqp::Link& link_;
};

// A client's receiver from $cbs or $management: replies wait here for credit.
class Replies final : public PeerLink {
public:
    static constexpr std::size_t waiting_max = 100;

    Replies(LinkHost& host, Nodes& nodes, amqp::Link& link, eventhubs::Address::Kind which)
        : node(which), host_(host), nodes_(nodes), link_(link) {}
    ~Replies() override;
    void on_credit() override;
    Replies* replies() override { return this; }
    void push(amqp::Buffer message);

    const eventhubs::Address::Kind node;

private:
    amqp::Buffer pop();

    LinkHost& host_;
    Nodes& nodes_;
    amqp::Link& link_;
    std::deque<amqp::Buffer> waiting_;
};

}  // namespace evenkeel::door
