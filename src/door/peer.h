// One connected client: its socket, its AMQP connection, and what its links are attached to.
//
//   $cbs, $management   request and reply (door/nodes.cc)
//   a hub or partition  events come in: decoded, routed, appended; settled when durable
//   a consumer group    events go out: from the partition's log, as far as credit and room allow
//
// Backpressure both ways: nothing is read from the socket while too much waits for the disk, and
// nothing is taken from the log while too much waits for the socket.
// Threads: pinned to the hub's loop; cold reads are performed on the reads executor.
#pragma once

#include <deque>
#include <memory>
#include <set>
#include <vector>

#include "amqp/connection.h"
#include "amqp/message.h"
#include "door/access.h"
#include "door/address.h"
#include "door/events.h"
#include "hub/namespace.h"
#include "io/loop.h"
#include "io/socket.h"

namespace evenkeel::door {

// What all clients of a door share; outlives them.
struct PeerContext {
    io::Loop& loop;
    io::Executor& reads;
    hub::Namespace& hubs;
    const AccessRules& rules;
    std::uint64_t message_bytes_max = 1 << 20;
    bool accept_any_token = false;  // tokens of type jwt are taken unchecked: for tests
};

class Peer final : public amqp::Handler {
public:
    // `gone` runs once, on the loop, when the connection has ended; the peer may be destroyed in a
    // later task.
    Peer(const PeerContext& context, std::unique_ptr<io::Socket> socket, Task gone);
    ~Peer() override;

    void start();
    // Keep-alives, time-outs, tokens that ended. Called about once a second.
    void tick(Instant now);
    // Tells the client that we go, and goes when that is sent.
    void close(const amqp::Condition& why);

    bool on_sasl(const amqp::SaslInit& init) override;
    void on_open(const amqp::Open& open) override;
    void on_attach(amqp::Link& link) override;
    void on_delivery(amqp::Link& link, const amqp::Delivery& delivery) override;
    void on_credit(amqp::Link& link) override;
    void on_detach(amqp::Link& link, const std::optional<amqp::Condition>& error) override;
    void on_closed(const std::optional<amqp::Condition>& error) override;

private:
    friend class Requests;
    friend class Replies;
    friend class Ingest;
    friend class Outflow;

    void read();
    void flush();
    // Sends what is to be sent after the running task: many small changes share one write.
    void flush_soon();
    void finish();
    bool has_room() const;
    // Detaches a link of ours; the client's answer needs no more doing.
    void drop(amqp::Link& link, const amqp::Condition& why);

    void attach_node(amqp::Link& link, const Address& address);
    void attach_ingest(amqp::Link& link, const Address& address);
    void attach_outflow(amqp::Link& link, const Address& address);
    Result<std::optional<PartitionId>> partition_of(hub::EventHub& event_hub,
                                                    const Address& address) const;
    amqp::Condition tracked(amqp::Condition condition, std::string_view entity) const;
    bool may(Right right, std::string_view path) const;

    void answer(amqp::Link& from, Address::Kind node, const amqp::Request& request,
                amqp::Buffer message);
    void handle_cbs(amqp::Link& link, const amqp::Request& request);
    void handle_management(amqp::Link& link, const amqp::Request& request);
    Result<Claim> check_token(std::string_view type, std::string_view token) const;

    const PeerContext context_;
    std::unique_ptr<io::Socket> socket_;
    Task gone_;
    amqp::Connection connection_;
    std::vector<std::byte> input_;
    amqp::Buffer sending_;
    bool writing_ = false;
    bool reading_ = false;
    bool flush_posted_ = false;
    bool finished_ = false;
    std::vector<Claim> claims_;
    std::uint64_t waiting_bytes_ = 0;  // taken from the client, not yet durable
    std::set<amqp::Link*> links_;      // attached, of any kind
    Incoming incoming_;
    // Alive as long as the peer is; tasks that come back look at it first.
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace evenkeel::door
