// One connection of a door without a peer around it, for tests of the parts of a connection: the
// engine, whose client is written frame by frame, a wire over a socket in memory, and its links.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "amqp/engine_fixture.h"
#include "door/amqp/link_host.h"
#include "door/amqp/nodes.h"
#include "door/door_fixture.h"

namespace evenkeel::door {

// The client's end of a socket in memory.
struct SocketEnd {
    Buffer got;  // from the hub
    bool is_ended = false;
    bool is_closed = false;
    ByteSpan into = {};
    Callback<void(Result<std::size_t>)> reading = nullptr;
    Callback<void(Result<>)> writing = nullptr;

    void give(ByteView bytes) {
        std::ranges::copy(bytes, into.begin());
        std::exchange(reading, nullptr)(Result<std::size_t>(bytes.size()));
    }
    void take() { std::exchange(writing, nullptr)(Result<>()); }
};

class MemorySocket final : public io::Socket {
public:
    explicit MemorySocket(SocketEnd& end) : end_(end) {}
    void read(ByteSpan buffer, Callback<void(Result<std::size_t>)> done) override {
        end_.into = buffer;
        end_.reading = std::move(done);
    }
    void write(ByteView bytes, Callback<void(Result<>)> done) override {
        end_.got.insert(end_.got.end(), bytes.begin(), bytes.end());
        end_.writing = std::move(done);
    }
    void finish() override { end_.is_ended = true; }
    void close() override { end_.is_closed = true; }
    io::Endpoint peer() const override { return {"client", 1}; }

private:
    SocketEnd& end_;
};

class LinkFixture final : public LinkHost, private Wire::Owner {
public:
    // With a session on channel 0.
    LinkFixture() {
        receive(as_bytes(amqp::amqp_header_text));
        amqp::Open open;
        open.container = "client";
        open.max_frame_bytes = 65536;
        frame(open);
        frame(amqp::Begin{std::nullopt, 1, 1000, 1000, 0xffffffff});
        frames();
    }
    ~LinkFixture() { links_.clear(); }
    LinkFixture(const LinkFixture&) = delete;
    LinkFixture& operator=(const LinkFixture&) = delete;

    void receive(ByteView bytes) { connection.receive(bytes, world.loop.clock().now()); }
    template <typename Body>
    void frame(const Body& body, std::string_view payload = {}) {
        receive(amqp::frame_of(0, amqp::encoded(body), payload));
    }
    // What the engine wrote since the last call.
    std::vector<amqp::Frame> frames() {
        Buffer bytes;
        connection.take_output(bytes);
        return amqp::frames_in(bytes);
    }
    // A link that the client attached, accepted unless recorder.attach says otherwise.
    amqp::Link& attach(amqp::Role role_of_client = amqp::Role::sender) {
        const std::uint32_t handle = next_handle_++;
        frame(amqp::an_attach(
            {.name = std::to_string(handle), .handle = handle, .role = role_of_client}));
        return *recorder.links.back();
    }
    void run() { world.scheduler.run_for(1ms); }

    const PeerContext& context() const override { return context_; }
    const Visitor& visitor() const override { return visitor_; }
    std::string_view host_name() const override { return host; }
    Wire& wire() override { return wire_; }
    Login& login() override { return login_; }
    LinkTable& links() override { return links_; }
    Incoming& incoming() override { return incoming_; }
    void close(const amqp::Condition& why) override { closed.push_back(why.name); }
    void append_begun(std::uint64_t) override {}
    void append_ended(std::uint64_t) override {}
    Lifetime::Handle<LinkHost> handle() override {
        return lifetime_.handle(static_cast<LinkHost*>(this));
    }

    DoorFixture world;
    SocketEnd client;
    amqp::Recorder recorder;
    Metrics metrics;
    std::string host;
    std::vector<std::string> closed;
    bool takes_bytes = true;
    // What the wire told.
    std::vector<std::string> lost;
    std::vector<amqp::Link*> has_room;
    int all_sent = 0;

private:
    bool takes_input() const override { return takes_bytes; }
    void on_lost(std::string why) override { lost.push_back(std::move(why)); }
    void on_all_sent() override { ++all_sent; }
    void on_room(amqp::Link& link) override { has_room.push_back(&link); }

    AccessRules rules_{std::vector<Rule>()};
    std::shared_ptr<const JwtVerifier> jwt_;
    Quotas quotas_{{}, {}, world.loop.clock().now()};
    Producers producers_;
    Recall recall_{world.loop, world.reads, producers_};
    Crowd crowd_{CrowdOptions()};
    Activity activity_{metrics, world.loop.clock()};
    const PeerContext context_{world.loop, world.reads, *world.hubs, rules_,    jwt_,       quotas_,
                               producers_, recall_,     crowd_,      activity_, PeerTimes()};
    const Visitor visitor_{{"client", 1}};
    std::uint32_t next_handle_ = 0;
    Incoming incoming_;
    Login login_{context_, visitor_, 1};
    Wire wire_{world.loop, std::make_unique<MemorySocket>(client), connection, *this};
    LinkTable links_{context_, wire_};
    Lifetime lifetime_;

public:
    Nodes nodes{*this};
    amqp::Connection connection{{}, recorder, world.loop.clock().now()};  // goes first
};

}  // namespace evenkeel::door
