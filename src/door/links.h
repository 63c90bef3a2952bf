// What hangs on a client's links: requests and replies of nodes, events in, events out. Internal to
// door/peer.cc and its parts.
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "amqp/link.h"
#include "door/access.h"
#include "door/address.h"
#include "door/events.h"
#include "door/peer.h"
#include "hub/event_hub.h"

namespace evenkeel::door {

class PeerLink : public amqp::LinkUser {
public:
    virtual void on_delivery(const amqp::Delivery&) {}
    virtual void on_credit() {}
    // Goes on with what waited for room in the output.
    virtual void on_room() {}
    // The client has read nothing for a while: gives back memory that can be had again.
    virtual void on_stall() {}
    std::optional<Need> need = {};
    std::optional<Instant> used = {};  // when something last came; none if that does not matter
};

// A client's sender to $cbs or $management.
class Requests final : public PeerLink {
public:
    static constexpr std::uint32_t credit = 100;

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

    Replies(Peer& peer, amqp::Link& link, Address::Kind which)
        : node(which), peer_(peer), link_(link) {}
    ~Replies() override;
    void on_credit() override;
    void push(amqp::Buffer message);

    const Address::Kind node;

private:
    amqp::Buffer pop();

    Peer& peer_;
    amqp::Link& link_;
    std::deque<amqp::Buffer> waiting_;
};

// Events from a client.
class Ingest final : public PeerLink {
public:
    static constexpr std::uint32_t credit = 1000;

    Ingest(Peer& peer, amqp::Link& link, std::string hub, std::optional<PartitionId> partition,
           std::uint64_t message_bytes_max, bool idempotent);
    // Expires with it, and so before its peer does.
    std::weak_ptr<Ingest> weak() const { return alive_; }
    void on_delivery(const amqp::Delivery& delivery) override;

private:
    void take(const amqp::Delivery& delivery);
    void append(hub::EventHub& event_hub, PartitionId partition, const amqp::Delivery& delivery);
    void finish(std::uint32_t delivery, const Result<commitlog::Appended>& appended);
    void accept(const amqp::Delivery& delivery);
    void reject(const amqp::Delivery& delivery, const amqp::Condition& why);

    Peer& peer_;
    amqp::Link& link_;
    const std::string hub_;
    const std::optional<PartitionId> partition_;
    const std::uint64_t message_bytes_max_;
    const bool idempotent_;
    std::shared_ptr<Ingest> alive_{this, [](Ingest*) {}};
};

// Events to a client.
class Outflow final : public PeerLink {
public:
    Outflow(Peer& peer, amqp::Link& link, bool wants_metric)
        : peer_(peer), link_(link), wants_metric_(wants_metric) {}
    ~Outflow() override;

    Result<> attach(hub::EventHub& event_hub, const Address& address, PartitionId partition,
                    const Position& position, const hub::ReaderRequest& request);
    void on_credit() override;
    void on_room() override { pump(); }
    void on_stall() override;

private:
    // Sends as much as credit, window and room allow; then waits for whichever is missing.
    void pump();
    void give_back_credit();
    // The next events into left_; false if there are none right now.
    bool fill();
    // Reads on while what was read is being sent, for clients that keep up.
    void read_ahead();
    void take(commitlog::ReadStep step);
    void perform(commitlog::ColdRead read);
    void took(commitlog::ReadOutcome outcome);
    void performed(Result<commitlog::ReadOutcome> outcome);
    void send(const commitlog::Record& record, const std::optional<RuntimeMetric>& metric);
    void end(const amqp::Condition& why);

    // What a link reads from disk at a time: little at first, more for a client that keeps up.
    static constexpr std::size_t read_bytes_min = std::size_t{16} << 10;
    static constexpr std::size_t read_bytes_max = std::size_t{256} << 10;

    Peer& peer_;
    amqp::Link& link_;
    const bool wants_metric_;
    std::string entity_;
    hub::Partition* partition_ = nullptr;
    std::unique_ptr<hub::PartitionReader> reader_;
    commitlog::Slice left_;
    std::optional<commitlog::Damage> damage_;           // behind left_
    std::optional<commitlog::ReadOutcome> ahead_ = {};  // behind that
    std::size_t read_bytes_ = read_bytes_min;
    bool reading_ = false;  // a cold read is under way
    bool waited_ = false;   // the last cold read had to wait for the disk
    bool at_end_ = false;   // waits for new events
    amqp::Buffer prefix_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace evenkeel::door
