// One connected client: its AMQP connection, and the parts that serve it.
//
//     Wire        its socket: bytes in and out, and room for events in the output
//     Login       its claims, and its places in quotas
//     Nodes       $cbs, $management: request and reply
//     Attacher    turns an attach into a link: Requests, Replies, Ingest or Outflow
//     LinkTable   the links that are attached
//
// Backpressure both ways: nothing is read from the socket while too much waits for the disk or for
// the client, and nothing is taken from the log while too much waits for the socket.
//
// A connection ends in steps, each with a deadline after which it is cut: what is on its way to the
// disk is settled, links and connection are closed, the socket's own side is ended, and then the
// client's end is awaited, because bytes unread at close() would destroy what was just sent.
//
//     running ── close() ──▶ settling ── all durable ──▶ leaving ──▶ finished
//        └────────────── cut(), the socket is lost ─────────────────────▲
//
// Threads: pinned to the hub's loop; cold reads are performed on the reads executor.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "amqp/connection.h"
#include "door/amqp/attach.h"
#include "door/amqp/link_host.h"
#include "door/amqp/nodes.h"

namespace evenkeel::door {

class Peer final : public amqp::Handler, private LinkHost, private Wire::Owner {
public:
    // `gone` runs once, on the loop, when the connection has ended; the peer may be destroyed in a
    // later task.
    Peer(const PeerContext& context, Crowd::Id id, std::unique_ptr<io::Socket> socket, Task gone,
         Transport transport = Transport::tcp);
    ~Peer() override;

    void start() { wire_.read(); }
    // The client's open will be answered by a close that says why. Before start().
    void refuse(amqp::Condition why) { refusal_ = std::move(why); }
    // Keep-alives, time-outs, tokens that ended. Called about once a second. True if memory was let
    // go of that a client had not taken.
    bool tick(Instant now);
    // Tells the client that we go, and goes when it has heard.
    void close(const amqp::Condition& why) override;
    // Goes at once.
    void cut();
    // Other quotas were set.
    void count_again();
    const Visitor& visitor() const override { return visitor_; }
    // For operators. With the folded name of an event hub: only links to it; none if there are
    // none.
    std::optional<ConnectionInfo> info(const std::string& hub) const;

    bool on_sasl(const amqp::SaslInit& init) override;
    void on_open(const amqp::Open& open) override;
    void on_attach(amqp::Link& link) override { attacher_.attach(link); }
    void on_delivery(amqp::Link& link, const amqp::Delivery& delivery) override;
    void on_credit(amqp::Link& link) override;
    void on_detach(amqp::Link& link, const std::optional<amqp::Condition>& error) override;
    void on_closed(const std::optional<amqp::Condition>& error) override;

private:
    enum class State { running, settling, leaving, finished };

    const PeerContext& context() const override { return context_; }
    std::string_view host_name() const override;
    Wire& wire() override { return wire_; }
    Login& login() override { return login_; }
    LinkTable& links() override { return links_; }
    Incoming& incoming() override { return incoming_; }
    void append_begun(std::uint64_t bytes) override { waiting_bytes_ += bytes; }
    void append_ended(std::uint64_t bytes) override;
    Lifetime::Handle<LinkHost> handle() override {
        return lifetime_.handle(static_cast<LinkHost*>(this));
    }

    bool takes_input() const override;
    void on_lost(std::string why) override;
    void on_all_sent() override;
    void on_room(amqp::Link& link) override;

    void leave_if_settled();
    void finish();
    void end_because(std::string why);
    // For a client whose idle time-out is too short for tick().
    void keep_alive_at(Instant when);
    // Whatever a client sends, empty frames too, does not put this off.
    void check_login(Instant now);
    void check_claims();
    void check_idle(Instant now);
    bool check_stall();
    void check_state() const;

    const PeerContext context_;
    const Crowd::Id id_;
    const Transport transport_;
    const WallTime since_;
    Task gone_;
    Visitor visitor_;
    State state_ = State::running;
    bool opened_ = false;  // the client's open has come
    std::string ended_because_;
    std::string sasl_host_;
    std::optional<amqp::Condition> refusal_;
    std::optional<amqp::Condition> closing_;  // to be sent once all is settled
    std::optional<Instant> cut_at_;
    std::uint64_t waiting_bytes_ = 0;  // taken from the client, not yet durable
    Incoming incoming_;
    Login login_;
    Nodes nodes_;
    Attacher attacher_;
    Wire wire_;
    LinkTable links_;
    amqp::Connection connection_;  // before the others it goes, with the links, which use them
    Lifetime lifetime_;
};

}  // namespace evenkeel::door
