// Engines in memory for tests: a Recorder that notes what an engine tells, a Server whose peer is
// written frame by frame, and a Pair of engines with the stream between them cut anywhere.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "amqp/codec_fixture.h"
#include "amqp/connection.h"
#include "base/random.h"

namespace evenkeel::amqp {

inline constexpr std::string_view amqp_header_text{"AMQP\0\1\0\0", 8};
inline constexpr std::string_view sasl_header_text{"AMQP\3\1\0\0", 8};

inline std::string text_of(ByteView bytes) {
    return std::string(as_text(bytes));
}

struct Received {
    std::string link;
    Delivery delivery;
    std::string bytes;
};

// Accepts every link and grants it `credit`, unless a test says otherwise.
struct Recorder : Handler {
    bool lets_in = true;
    std::uint32_t credit = 100;
    std::function<void(Link&)> attach = [this](Link& link) { accept(link); };
    std::function<void(Link&, const Delivery&)> delivery;
    std::function<void(Link&)> has_credit;
    std::function<void(Link&)> detach;
    std::function<void()> close;

    std::optional<SaslInit> sasl;
    std::optional<Open> opened;
    std::vector<Link*> links;  // attached and not yet detached
    std::vector<Received> received;
    std::vector<Disposition> dispositions;
    std::vector<std::pair<std::string, std::optional<Condition>>> detached;
    std::vector<std::optional<Condition>> ended;
    std::vector<std::optional<Condition>> closed;

    void accept(Link& link, Attach reply = {}) {
        reply.source = link.peer().source;
        reply.target = link.peer().target;
        links.push_back(&link);
        link.accept(std::move(reply));
        if (link.role() == Role::receiver) link.grant(credit);
    }

    bool on_sasl(const SaslInit& init) override {
        sasl = init;
        return lets_in;
    }
    void on_open(const Open& open) override { opened = open; }
    void on_attach(Link& link) override { attach(link); }
    void on_attached(Link& link) override {
        links.push_back(&link);
        if (link.role() == Role::receiver) link.grant(credit);
    }
    void on_delivery(Link& link, const Delivery& got) override {
        received.push_back({link.peer().name, got, text_of(got.bytes)});
        received.back().delivery.bytes = {};
        if (delivery) delivery(link, got);
    }
    void on_credit(Link& link) override {
        if (has_credit) has_credit(link);
    }
    void on_disposition(Link&, const Disposition& disposition) override {
        dispositions.push_back(disposition);
    }
    void on_detach(Link& link, const std::optional<Condition>& error) override {
        std::erase(links, &link);
        detached.emplace_back(link.peer().name, error);
        if (detach) detach(link);
    }
    void on_end(Session&, const std::optional<Condition>& error) override {
        ended.push_back(error);
    }
    void on_closed(const std::optional<Condition>& error) override {
        closed.push_back(error);
        if (close) close();
    }
};

struct Frame {
    std::uint8_t type = 0;
    std::uint16_t channel = 0;
    Buffer bytes;
    std::optional<Performative> body;  // none: a keep-alive
    std::string payload;
};

// What an engine wrote: protocol headers are left out.
inline std::vector<Frame> frames_in(ByteView output) {
    std::vector<Frame> frames;
    while (!output.empty()) {
        if (as_text(output).starts_with("AMQP")) {
            output = output.subspan(8);
            continue;
        }
        const std::uint32_t size = __builtin_bswap32(load<std::uint32_t>(output.data()));
        Frame frame;
        frame.bytes.assign(output.begin(), output.begin() + size);
        frame.type = std::to_integer<std::uint8_t>(frame.bytes[5]);
        frame.channel = static_cast<std::uint16_t>(std::to_integer<unsigned>(frame.bytes[6]) << 8 |
                                                   std::to_integer<unsigned>(frame.bytes[7]));
        ByteView body = ByteView(frame.bytes).subspan(8);
        if (!body.empty()) {
            frame.body = decode_performative(body).value();
            frame.payload = text_of(body);
        }
        frames.push_back(std::move(frame));
        output = output.subspan(size);
    }
    return frames;
}

inline Buffer frame_of(std::uint16_t channel, ByteView body, std::string_view payload = {},
                       std::uint8_t type = 0) {
    Buffer frame = bytes_of(0, 0, 0, 0, 2, type, channel >> 8, channel & 0xff);
    frame.insert(frame.end(), body.begin(), body.end());
    Encoder(frame).bytes(as_bytes(payload));
    store(frame.data(), __builtin_bswap32(static_cast<std::uint32_t>(frame.size())));
    return frame;
}

// The bodies of one kind among frames.
template <typename Body>
std::vector<Body> all(const std::vector<Frame>& frames) {
    std::vector<Body> found;
    for (const auto& frame : frames) {
        if (frame.body && std::holds_alternative<Body>(*frame.body)) {
            found.push_back(std::get<Body>(*frame.body));
        }
    }
    return found;
}

struct PeerAttach {
    std::string name = "link";
    std::uint32_t handle = 0;
    Role role = Role::sender;  // the peer's
    std::uint32_t initial_count = 0;
};

inline Attach an_attach(const PeerAttach& of) {
    Attach attach;
    attach.name = of.name;
    attach.handle = of.handle;
    attach.role = of.role;
    attach.source = terminus(descriptor::source, "here");
    attach.target = terminus(descriptor::target, "there");
    if (of.role == Role::sender) attach.initial_delivery_count = of.initial_count;
    return attach;
}

// The engine as a server; the test is its peer.
class Server {
public:
    explicit Server(ConnectionOptions options = {}) : engine(std::move(options), recorder, now) {}

    void receive(ByteView bytes) { engine.receive(bytes, now); }
    void receive(std::string_view text) { receive(as_bytes(text)); }
    template <typename Body>
    void frame(std::uint16_t channel, const Body& body, std::string_view payload = {}) {
        receive(frame_of(channel, encoded(body), payload));
    }
    std::string output() {
        Buffer bytes;
        engine.take_output(bytes);
        return text_of(bytes);
    }
    std::vector<Frame> frames() {
        Buffer bytes;
        engine.take_output(bytes);
        return frames_in(bytes);
    }
    // The condition of the close that the engine wrote last; empty if none.
    std::string close_condition() {
        const auto closes = all<Close>(frames());
        return closes.empty() || !closes.back().error ? "" : closes.back().error->name;
    }
    std::string end_condition() {
        const auto ends = all<End>(frames());
        return ends.empty() || !ends.back().error ? "" : ends.back().error->name;
    }

    // Steps of an ordinary peer, with the answers dropped.
    Server& open(std::uint32_t max_frame_bytes = 65536, std::uint32_t idle_timeout_ms = 0) {
        receive(amqp_header_text);
        Open open;
        open.container = "peer";
        open.max_frame_bytes = max_frame_bytes;
        open.idle_timeout_ms = idle_timeout_ms;
        frame(0, open);
        output();
        return *this;
    }
    Server& begin(std::uint16_t channel = 0, std::uint32_t incoming_window = 1000,
                  std::uint32_t next_outgoing_id = 1) {
        frame(channel, Begin{std::nullopt, next_outgoing_id, incoming_window, 1000, 0xffffffff});
        output();
        return *this;
    }
    Link& attach(const PeerAttach& of, std::uint16_t channel = 0) {
        frame(channel, an_attach(of));
        output();
        return *recorder.links.back();
    }
    // A flow of a receiver: so much credit, counted from `delivery_count`.
    void flow(std::uint32_t handle, std::uint32_t credit, std::uint32_t delivery_count = 0,
              bool drain = false, std::uint32_t window = 1000,
              std::optional<std::uint32_t> next_incoming_id = std::nullopt) {
        frame(0, Flow{next_incoming_id, window, 1, 1000, handle, delivery_count, credit,
                      std::nullopt, drain, false});
    }

    Instant now{1'000'000'000};
    Recorder recorder;
    Connection engine;
};

inline Transfer a_transfer(std::uint32_t handle, std::uint32_t id, bool more = false) {
    Transfer transfer;
    transfer.handle = handle;
    transfer.delivery_id = id;
    transfer.message_format = 0;
    transfer.more = more;
    return transfer;
}

inline ConnectionOptions client_options(ConnectionOptions options = {}) {
    options.is_server = false;
    options.container = "client";
    options.hostname = "hub.example";
    return options;
}

// Two engines. run() carries bytes between them until both are silent, in pieces by chance.
class Pair {
public:
    explicit Pair(std::uint64_t seed, ConnectionOptions for_server = {},
                  ConnectionOptions for_client = {})
        : random(seed),
          server(std::move(for_server), at_server, now),
          client(client_options(std::move(for_client)), at_client, now) {}

    void run() {
        bool moved = true;
        while (moved) {
            moved = carry(client, server);
            moved = carry(server, client) || moved;
        }
    }
    // Opened, with a session.
    Session& session() {
        run();
        return client.begin();
    }
    bool carry(Connection& from, Connection& to) {
        Buffer bytes;
        from.take_output(bytes);
        ByteView left = bytes;
        while (!left.empty()) {
            const std::uint64_t most = random.chance(1, 2) ? 16 : 5000;
            const std::size_t size = std::min<std::size_t>(1 + random.below(most), left.size());
            to.receive(left.first(size), now);
            left = left.subspan(size);
        }
        return !bytes.empty();
    }

    Instant now{1'000'000'000};
    Random random;
    Recorder at_server;
    Recorder at_client;
    Connection server;
    Connection client;
};

}  // namespace evenkeel::amqp
