// Events to a client: from the stream of a partition, as far as credit, window and room allow.
// Threads: part of Peer, on the hub's loop; cold reads are performed on the reads executor.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "door/amqp/link_host.h"
#include "door/amqp/peer_link.h"
#include "eventhubs/address.h"
#include "hub/event_hub.h"
#include "hub/partition_stream.h"

namespace evenkeel::door {

class Outflow final : public PeerLink, private hub::PartitionStream::Owner {
public:
    struct Wishes {
        bool metric = false;
        bool damage = false;  // report events that cannot be read, instead of skipping them
    };
    Outflow(LinkHost& host, amqp::Link& link, Wishes wishes);
    ~Outflow() override;

    Result<> attach(hub::EventHub& event_hub, const eventhubs::Address& address,
                    PartitionId partition, const Position& position,
                    const hub::ReaderRequest& request);
    void on_credit() override;
    void on_room() override { pump(); }
    bool on_stall() override;

private:
    void on_ready() override { pump(); }
    void on_ended(const Error& why) override;
    bool keeps_up() const override { return wire_.keeps_up(); }

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
    void check_state() const;

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

    LinkHost& host_;
    Wire& wire_;
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
