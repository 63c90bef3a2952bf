// Events from a client: decoded, routed, appended to a partition; settled when durable.
// Threads: part of Peer, on the hub's loop.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/lifetime.h"
#include "door/amqp/link_host.h"
#include "door/amqp/peer_link.h"
#include "door/amqp/producers.h"
#include "hub/event_hub.h"

namespace evenkeel::door {

class Ingest final : public PeerLink {
public:
    static constexpr std::uint32_t credit = 1000;

    Ingest(LinkHost& host, amqp::Link& link, const hub::EventHubRecord& hub,
           std::optional<PartitionId> partition, std::uint64_t message_bytes_max);
    // Not one that was removed, or created again under its name.
    bool is_for(const hub::EventHub& event_hub) const {
        return event_hub.record().incarnation == incarnation_;
    }
    // The link's events are numbered, by this producer.
    void serve(const ProducerState& producer);
    // The client asks for receipts: where its events were stored.
    void send_receipts() { receipts_ = true; }
    // The client puts events back that were stored before, see amqp::restore_capability.
    void restore() { restores_ = true; }
    // Null once it is gone; it goes before its connection does.
    Lifetime::Handle<Ingest> handle() { return lifetime_.handle(this); }
    void on_delivery(const amqp::Delivery& delivery) override;

private:
    void take(const amqp::Delivery& delivery);
    void append(hub::EventHub& event_hub, PartitionId partition, const amqp::Delivery& delivery);
    // The quotas that what comes counts for, by the key of now.
    std::span<const QuotaRef> quotas();
    // What is wrong with the numbers of what came; none if they are this link's.
    std::optional<amqp::Condition> check_stamp() const;
    void finish(std::uint32_t delivery, PartitionId partition,
                const Result<commitlog::Appended>& appended);
    void accept(const amqp::Delivery& delivery);
    void reject(const amqp::Delivery& delivery, const amqp::Condition& why);

    LinkHost& host_;
    amqp::Link& link_;
    const std::string hub_;
    const commitlog::Incarnation incarnation_;
    const std::optional<PartitionId> partition_;
    const std::uint64_t message_bytes_max_;
    std::optional<ProducerState> producer_ = {};
    bool receipts_ = false;
    bool restores_ = false;
    const std::shared_ptr<HubTraffic> traffic_;
    std::vector<QuotaRef> quotas_ = {};
    // When they were looked up; see Login and Quotas.
    std::pair<std::uint64_t, std::uint64_t> quotas_of_ = {};
    Lifetime lifetime_;
};

}  // namespace evenkeel::door
