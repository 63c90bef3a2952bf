// What hangs on a client's links: requests and replies of nodes, events in, events out. Internal to
// door/peer.cc and its parts.
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "amqp/link.h"
#include "commitlog/read.h"
#include "door/access.h"
#include "door/address.h"
#include "door/events.h"
#include "hub/event_hub.h"

namespace evenkeel::door {

class Peer;

// The right a link needs as long as it lives.
struct Need {
    Right right = Right::send;
    std::string path;  // as path_of() gives it; empty: none
};

class PeerLink : public amqp::LinkUser {
public:
    virtual void on_delivery(const amqp::Delivery&) {}
    virtual void on_credit() {}
    // Goes on with what waited for room in the output.
    virtual void on_room() {}
    Need need;
};

// A client's sender to $cbs or $management.
class Requests final : public PeerLink {
public:
    Requests(Peer& peer, amqp::Link& link, Address::Kind node)
        : peer_(peer), link_(link), node_(node) {}
    void on_delivery(const amqp::Delivery& delivery) override;

private:
    Peer& peer_;
    amqp::Link& link_;
    const Address::Kind node_;
};

// A client's receiver from $cbs or $management: replies wait here for credit.
class Replies final : public PeerLink {
public:
    static constexpr std::size_t waiting_max = 100;

    Replies(amqp::Link& link, Address::Kind which) : node(which), link_(link) {}
    void on_credit() override;
    void push(amqp::Buffer message);

    const Address::Kind node;

private:
    amqp::Link& link_;
    std::deque<amqp::Buffer> waiting_;
};

// Events from a client.
class Ingest final : public PeerLink {
public:
    static constexpr std::uint32_t credit = 1000;

    Ingest(Peer& peer, amqp::Link& link, std::string hub, std::optional<PartitionId> partition)
        : peer_(peer), link_(link), hub_(std::move(hub)), partition_(partition) {}
    void on_delivery(const amqp::Delivery& delivery) override;

private:
    void append(const amqp::Delivery& delivery);
    void reject(const amqp::Delivery& delivery, const amqp::Condition& why);

    Peer& peer_;
    amqp::Link& link_;
    const std::string hub_;
    const std::optional<PartitionId> partition_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

// Events to a client.
class Outflow final : public PeerLink {
public:
    Outflow(Peer& peer, amqp::Link& link, bool wants_metric)
        : peer_(peer), link_(link), wants_metric_(wants_metric) {}
    ~Outflow() override;

    Result<> attach(hub::EventHub& event_hub, const Address& address, PartitionId partition,
                    const Position& position, const hub::ReaderRequest& request);
    void on_credit() override { pump(); }
    void on_room() override { pump(); }

private:
    // Sends as much as credit, window and room allow; then waits for whichever is missing.
    void pump();
    // False if nothing can be had right now.
    bool fill();
    void perform(commitlog::ColdRead read);
    void send(const commitlog::Record& record, const std::optional<RuntimeMetric>& metric);
    void end(const amqp::Condition& why);

    Peer& peer_;
    amqp::Link& link_;
    const bool wants_metric_;
    std::string entity_;
    hub::Partition* partition_ = nullptr;
    std::unique_ptr<hub::PartitionReader> reader_;
    commitlog::Slice left_;
    std::optional<commitlog::Damage> damage_;
    bool waiting_ = false;  // for new events, or for a cold read
    amqp::Buffer prefix_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace evenkeel::door
