// What hangs on a client's links: requests and replies of nodes, events in, events out. Internal to
// door/amqp/peer.cc and its parts.
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "amqp/link.h"
#include "door/address.h"
#include "door/amqp/events.h"
#include "door/amqp/peer.h"
#include "door/auth/access.h"
#include "hub/event_hub.h"
#include "hub/partition_stream.h"

namespace evenkeel::door {

class PeerLink : public amqp::LinkUser {
public:
    virtual void on_delivery(const amqp::Delivery&) {}
    virtual void on_credit() {}
    // Goes on with what waited for room in the output.
    virtual void on_room() {}
    // The client has read nothing for a while: lets go of memory that can be had again. True if
    // there was some.
    virtual bool on_stall() { return false; }
    std::optional<Need> need = {};
    std::shared_ptr<Place> place = {};  // of the connection, in its event hub's quota
    std::optional<Instant> used = {};   // when something last came; none if that does not matter
};

// A client's sender to $cbs or $management.
class Requests final : public PeerLink {
public:
    static constexpr std::uint32_t credit = 100;

    Requests(Peer& peer, amqp::Link& link, Address::Kind which)
        : node(which), peer_(peer), link_(link) {}
    void on_delivery(const amqp::Delivery& delivery) override;

    const Address::Kind node;

private:
    Peer& peer_;
    amqp::Link& link_;
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

    Ingest(Peer& peer, amqp::Link& link, const hub::EventHubRecord& hub,
           std::optional<PartitionId> partition, std::uint64_t message_bytes_max);
    // Not one that was removed, or created again under its name.
    bool is_for(const hub::EventHub& event_hub) const {
        return event_hub.record().incarnation == incarnation_;
    }
    // The link's events are numbered, by this producer.
    void serve(const ProducerState& producer) { producer_ = producer; }
    // Expires with it, and so before its peer does.
    std::weak_ptr<Ingest> weak() const { return alive_; }
    void on_delivery(const amqp::Delivery& delivery) override;

private:
    void take(const amqp::Delivery& delivery);
    void append(hub::EventHub& event_hub, PartitionId partition, const amqp::Delivery& delivery);
    // The quotas that what comes counts for, by the key of now.
    std::span<const QuotaRef> quotas();
    // What is wrong with the numbers of what came; none if they are this link's.
    std::optional<amqp::Condition> check_stamp() const;
    void finish(std::uint32_t delivery, const Result<commitlog::Appended>& appended);
    void accept(const amqp::Delivery& delivery);
    void reject(const amqp::Delivery& delivery, const amqp::Condition& why);

    Peer& peer_;
    amqp::Link& link_;
    const std::string hub_;
    const commitlog::Incarnation incarnation_;
    const std::optional<PartitionId> partition_;
    const std::uint64_t message_bytes_max_;
    std::optional<ProducerState> producer_ = {};
    const std::shared_ptr<HubTraffic> traffic_;
    std::vector<QuotaRef> quotas_ = {};
    // When they were looked up; see Peer and Quotas.
    std::pair<std::uint64_t, std::uint64_t> quotas_of_ = {};
    std::shared_ptr<Ingest> alive_{this, [](Ingest*) {}};
};

// Events to a client.
class Outflow final : public PeerLink, private hub::PartitionStream::Owner {
public:
    struct Wishes {
        bool metric = false;
        bool damage = false;  // report events that cannot be read, instead of skipping them
    };
    Outflow(Peer& peer, amqp::Link& link, Wishes wishes);
    ~Outflow() override;

    Result<> attach(hub::EventHub& event_hub, const Address& address, PartitionId partition,
                    const Position& position, const hub::ReaderRequest& request);
    void on_credit() override;
    void on_room() override { pump(); }
    bool on_stall() override;

private:
    void on_ready() override { pump(); }
    void on_ended(const Error& why) override;
    bool keeps_up() const override;

    // Sends as much as credit, window and room allow; then waits for whichever is missing.
    void pump();
    // Of left_, until credit, window or room is used up.
    void send_left(const std::optional<RuntimeMetric>& metric, UsualPrefix& usual);
    void give_back_credit();
    // The next events into left_; false if there are none right now.
    bool fill();
    std::optional<RuntimeMetric> runtime_metric() const;
    void send(const commitlog::Record& record, const std::optional<RuntimeMetric>& metric);
    // Of a large event, as much as there is room for. True if it was the last part.
    bool send_part(const commitlog::Record& record, const std::optional<RuntimeMetric>& metric);
    bool can_send() const { return link_.can_send() || link_.can_go_on(); }
    bool is_waiting() const { return stream_.state() == hub::PartitionStream::State::waiting; }
    void end(const amqp::Condition& why);
    // The condition for the client; the trace has the details that are the server's.
    amqp::Condition read_failed(const Error& error) const;

    // Larger events are encoded a part at a time, as the output has room.
    static constexpr std::size_t whole_bytes_max = std::size_t{8} << 10;
    static constexpr std::size_t part_bytes_min = std::size_t{4} << 10;

    // A large event of which a part was sent. Its bytes may be let go and read again meanwhile.
    struct HalfSent {
        SequenceNumber sequence;
        std::optional<RuntimeMetric> metric;  // as in the part that was sent
        std::size_t bytes = 0;                // of prefix and body, that were sent
        std::size_t body_from = 0;            // where the body begins in the record's
    };

    Peer& peer_;
    amqp::Link& link_;
    const Wishes wishes_;
    std::string entity_;
    std::shared_ptr<HubTraffic> traffic_;
    hub::Partition* partition_ = nullptr;
    hub::ExecutorReads reads_;
    hub::PartitionStream stream_;
    commitlog::Slice left_;  // read, not sent yet
    bool dropped_ = false;   // the link was detached by us
    std::optional<HalfSent> half_sent_ = {};
    amqp::Buffer prefix_;  // of half_sent_; empty if it is to be made again
};

}  // namespace evenkeel::door
