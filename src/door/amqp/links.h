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
class Outflow final : public PeerLink {
public:
    struct Wishes {
        bool metric = false;
        bool damage = false;  // to be told of events that cannot be read, and not just passed over
    };
    Outflow(Peer& peer, amqp::Link& link, Wishes wishes)
        : peer_(peer), link_(link), wishes_(wishes) {}
    ~Outflow() override;

    Result<> attach(hub::EventHub& event_hub, const Address& address, PartitionId partition,
                    const Position& position, const hub::ReaderRequest& request);
    void on_credit() override;
    void on_room() override { pump(); }
    bool on_stall() override;

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
    void performed(Offset from, Result<commitlog::ReadOutcome> outcome);
    void send(const commitlog::Record& record, const std::optional<RuntimeMetric>& metric);
    // Of a large event, as much as there is room for. True if it was the last part.
    bool send_part(const commitlog::Record& record, const std::optional<RuntimeMetric>& metric);
    bool can_send() const { return link_.can_send() || link_.can_go_on(); }
    void end(const amqp::Condition& why);
    // For the client; the log line has what is the server's.
    amqp::Condition read_failed(const Error& error) const;

    // What a link reads from disk at a time: little at first, more for a client that keeps up.
    static constexpr std::size_t read_bytes_min = std::size_t{16} << 10;
    static constexpr std::size_t read_bytes_max = std::size_t{256} << 10;
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
    std::unique_ptr<hub::PartitionReader> reader_;
    commitlog::Slice left_;
    std::optional<commitlog::Damage> damage_;           // behind left_
    std::optional<commitlog::ReadOutcome> ahead_ = {};  // behind that
    std::size_t read_bytes_ = read_bytes_min;
    bool reading_ = false;  // a cold read is under way
    bool waited_ = false;   // the last cold read had to wait for the disk
    bool at_end_ = false;   // waits for new events
    std::optional<HalfSent> half_sent_ = {};
    amqp::Buffer prefix_;  // of half_sent_; empty if it is to be made again
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace evenkeel::door
