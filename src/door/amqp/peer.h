// One connected client: its socket, its AMQP connection, and what its links are attached to.
//
//   $cbs, $management   request and reply (door/amqp/nodes.cc)
//   a hub or partition  events come in: decoded, routed, appended; settled when durable
//   a consumer group    events go out: from the partition's log, as far as credit and room allow
//
// Backpressure both ways: nothing is read from the socket while too much waits for the disk or for
// the client, and nothing is taken from the log while too much waits for the socket.
//
// A connection ends in steps, each with a deadline after which it is cut: what is on its way to the
// disk is settled, links and connection are closed, the socket's own side is ended, and then the
// client's end is awaited, because bytes unread at close() would destroy what was just sent.
// Threads: pinned to the hub's loop; cold reads are performed on the reads executor.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "amqp/connection.h"
#include "amqp/message.h"
#include "door/activity.h"
#include "door/address.h"
#include "door/amqp/events.h"
#include "door/amqp/producers.h"
#include "door/amqp/recall.h"
#include "door/auth/access.h"
#include "door/auth/jwt.h"
#include "door/crowd.h"
#include "door/quotas.h"
#include "hub/namespace.h"
#include "io/loop.h"
#include "io/socket.h"

namespace evenkeel::door {

// How long what is allowed to last.
struct PeerTimes {
    Duration open = std::chrono::seconds(10);         // from connect to open: TLS, SASL and open
    Duration login = std::chrono::seconds(30);        // from open, or the end of the last token
    Duration unused = std::chrono::seconds(240);      // without any link
    Duration idle_sender = std::chrono::minutes(30);  // a link that sends nothing
    Duration settle = std::chrono::seconds(5);        // what is on its way to disk, when we go
    Duration close = std::chrono::seconds(5);         // until the client answers our close
    Duration linger = std::chrono::seconds(2);        // until it ends its side of the socket
    std::chrono::milliseconds keep_alive{120'000};    // a client silent twice as long is gone
};

// What all clients of a door share; outlives them.
struct PeerContext {
    io::Loop& loop;
    io::Executor& reads;
    hub::Namespace& hubs;
    const AccessRules& rules;
    const std::shared_ptr<const JwtVerifier>& jwt;  // none: tokens of type jwt are refused
    const Quotas& quotas;
    Producers& producers;
    Recall& recall;
    Crowd& crowd;
    Activity& activity;
    PeerTimes times;
    std::uint64_t message_bytes_max = 1 << 20;
    bool accept_any_token = false;  // tokens of type jwt are taken unchecked: for tests
};

// The right a link needs as long as it lives.
struct Need {
    Right right = Right::send;
    Entity entity;
};

class PeerLink;

class Peer final : public amqp::Handler {
public:
    // `gone` runs once, on the loop, when the connection has ended; the peer may be destroyed in a
    // later task.
    Peer(const PeerContext& context, Crowd::Id id, std::unique_ptr<io::Socket> socket, Task gone);
    ~Peer() override;

    void start();
    // The client's open will be answered by a close that says why. Before start().
    void refuse(amqp::Condition why) { refusal_ = std::move(why); }
    // Keep-alives, time-outs, tokens that ended. Called about once a second. True if memory was let
    // go of that a client had not taken.
    bool tick(Instant now);
    // Tells the client that we go, and goes when it has heard.
    void close(const amqp::Condition& why);
    // Goes at once.
    void cut();
    // Other quotas were set.
    void count_again();
    const Visitor& visitor() const { return visitor_; }

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

    bool wants_input() const;
    void read();
    void take_input(std::size_t bytes);
    void flush();
    // Sends what is to be sent after the running task: many small changes share one write.
    void flush_soon();
    void end_our_side();
    void finish();
    // Of events, in the output.
    std::size_t room() const;
    bool has_room() const { return room() > 0; }
    // The client has read a good deal since it came, or last stood still.
    bool keeps_up() const;
    // Calls the link's on_room() when has_room() may hold again.
    void wait_for_room(amqp::Link& link);
    void give_room();
    // Detaches a link of ours; the client's answer needs no more doing.
    void drop(amqp::Link& link, const amqp::Condition& why);
    void add(amqp::Link& link, std::unique_ptr<PeerLink> user);
    void forget(amqp::Link& link);
    void settled(std::uint64_t bytes);
    // For a client whose idle time-out is too short for tick().
    void keep_alive_at(Instant when);
    void logged_in(const Claim& claim);
    // Closes the connection if the claim's key has no place for it.
    bool find_place(const Claim& claim);
    // Refuses the link if its event hub has no place for the connection.
    bool find_place(amqp::Link& link, const Entity& entity, PeerLink& user);
    // The connection's place in the quota; none if that is full, unless it is there anyway.
    std::shared_ptr<Place> place_in(const QuotaRef& quota, bool is_there);
    void claims_changed();
    // By which key the right is had; empty if by none of ours.
    std::string_view key_of(const Need& need) const;
    // Refuses the link, and says so where operators see it.
    void refuse(amqp::Link& link, const amqp::Condition& why, std::string_view entity);
    void end_because(std::string why);
    // Whatever a client sends, empty frames too, does not put this off.
    void check_login(Instant now);
    void check_claims();
    void check_idle(Instant now);
    bool check_stall();

    void attach_node(amqp::Link& link, const Address& address);
    void attach_ingest(amqp::Link& link, const Address& address);
    void attach_outflow(amqp::Link& link, const Address& address);
    void accept_ingest(amqp::Link& link, amqp::Attach reply);
    // With the producer's state in the reply; or refuses.
    void accept_producer(amqp::Link& link, std::string_view hub, PartitionId partition,
                         amqp::Attach reply);
    Result<std::optional<PartitionId>> partition_of(hub::EventHub& event_hub,
                                                    const Address& address) const;
    amqp::Condition tracked(amqp::Condition condition, std::string_view entity) const;
    bool may(Right right, const Entity& entity) const;
    std::string url_of(std::string_view path) const;

    void answer(amqp::Link& from, Address::Kind node, const amqp::Request& request,
                amqp::Buffer message);
    void handle_cbs(amqp::Link& link, const amqp::Request& request);
    void handle_management(amqp::Link& link, const amqp::Request& request);
    Result<Claim> check_token(std::string_view type, std::string_view token) const;

    // By which the client reached us, as it says; empty if it does not.
    std::string_view host() const;

    const PeerContext context_;
    const Crowd::Id id_;
    std::unique_ptr<io::Socket> socket_;
    Task gone_;
    Visitor visitor_;
    std::string ended_because_;
    amqp::Connection connection_;
    std::vector<std::byte> input_;
    std::uint32_t small_reads_ = 0;  // in a row
    amqp::Buffer sending_;
    bool writing_ = false;
    std::uint64_t writes_ = 0;          // begun
    std::uint64_t writes_at_tick_ = 0;  // of those, at the last tick
    std::uint64_t taken_bytes_ = 0;     // by the kernel, since the client came or last stood still
    bool reading_ = false;
    bool flush_posted_ = false;
    bool opened_ = false;
    bool our_side_ended_ = false;
    bool finished_ = false;
    std::string sasl_host_;
    std::optional<amqp::Condition> refusal_;
    bool leaving_ = false;                    // close() was called
    std::optional<amqp::Condition> closing_;  // once nothing is on its way to disk
    std::optional<Instant> cut_at_;
    Instant unused_since_;
    std::optional<Instant> login_by_;  // while there is no good token
    std::vector<Claim> claims_;
    std::uint64_t claims_version_ = 0;            // rises when they change
    std::vector<std::weak_ptr<Place>> places_;    // in quotas
    std::vector<std::shared_ptr<Place>> by_key_;  // of those, for the keys of claims_
    std::uint64_t rules_generation_;
    WallTime claims_good_until_;       // no link's right ends before
    std::uint64_t waiting_bytes_ = 0;  // taken from the client, not yet durable
    std::size_t reply_bytes_ = 0;      // of nodes, waiting for the client's credit
    std::vector<amqp::Link*> links_;   // attached, of any kind, in the order they came
    std::deque<amqp::Link*> blocked_;  // of those, which wait for room
    Incoming incoming_;
    // Ours as long as the peer is there; tasks that come back look at it first.
    std::shared_ptr<Peer> alive_{this, [](Peer*) {}};
};

}  // namespace evenkeel::door
