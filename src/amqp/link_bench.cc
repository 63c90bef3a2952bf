// How fast the engine alone is, without sockets: sending settled events of 100 B one frame each,
// and receiving them one by one and in batches of 1000. Every run checks what came out.
#include <string>

#include <benchmark/benchmark.h>

#include "amqp/connection.h"
#include "amqp/message.h"
#include "base/check.h"

namespace evenkeel::amqp {
namespace {

struct Peer : Handler {
    Link* link = nullptr;
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;

    bool on_sasl(const SaslInit&) override { return true; }
    void on_open(const Open&) override {}
    void on_attach(Link& attached) override {
        link = &attached;
        Attach reply;
        reply.source = attached.peer().source;
        reply.target = attached.peer().target;
        attached.accept(std::move(reply));
        attached.grant(0x7fffffff);
    }
    void on_delivery(Link&, const Delivery& delivery) override {
        ++messages;
        bytes += delivery.bytes.size();
    }
    void on_credit(Link&) override {}
    void on_detach(Link&, const std::optional<Condition>&) override {}
    void on_closed(const std::optional<Condition>&) override {}
};

// A client's sender and a server's receiver, with bytes carried by hand.
struct Wire {
    Peer at_server;
    Peer at_client;
    Connection server{ConnectionOptions{}, at_server, Instant{}};
    Connection client{client_options(), at_client, Instant{}};
    Link* sender = nullptr;
    Buffer buffer;

    Wire() {
        carry();
        Session& session = client.begin();
        Attach attach;
        attach.name = "bench";
        attach.source = terminus(descriptor::source, "here");
        attach.target = terminus(descriptor::target, "there");
        sender = &client.attach(session, attach);
        carry();
        EK_CHECK(sender->can_send(), "credit was granted");
    }
    static ConnectionOptions client_options() {
        ConnectionOptions options;
        options.is_server = false;
        options.session_window = 0x7fffffff;
        return options;
    }
    void carry() {
        for (int i = 0; i < 6; ++i) {
            client.take_output(buffer);
            server.receive(buffer, Instant{});
            server.take_output(buffer);
            client.receive(buffer, Instant{});
        }
    }
};

// What the door does for every event: a prefix of annotations, and the stored sections behind it.
void send_events(benchmark::State& state) {
    Wire wire;
    const std::string prefix(60, 'p');
    const std::string body(static_cast<std::size_t>(state.range(0)), 'b');
    std::uint64_t sent = 0;
    for (auto _ : state) {
        for (int i = 0; i < 1000; ++i) {
            wire.sender->send(as_bytes(prefix), as_bytes(body), 0, true);
        }
        sent += 1000;
        state.PauseTiming();
        wire.carry();
        state.ResumeTiming();
    }
    EK_CHECK(wire.at_server.messages == sent, "every event arrived");
    EK_CHECK(wire.at_server.bytes == sent * (prefix.size() + body.size()), "whole");
    state.SetItemsProcessed(static_cast<std::int64_t>(sent));
    state.SetBytesProcessed(static_cast<std::int64_t>(wire.at_server.bytes));
}
BENCHMARK(send_events)->Arg(100)->Arg(1024);

// One transfer frame for each event, in reads of 64 KiB.
void receive_single_events(benchmark::State& state) {
    Wire wire;
    const std::string body(100, 'b');
    Buffer frames;
    std::uint64_t received = 0;
    for (auto _ : state) {
        state.PauseTiming();
        for (int i = 0; i < 1000; ++i) wire.sender->send({}, as_bytes(body), 0, false);
        wire.client.take_output(frames);
        state.ResumeTiming();
        for (std::size_t at = 0; at < frames.size(); at += 65536) {
            wire.server.receive(
                ByteView(frames).subspan(at, std::min<std::size_t>(65536, frames.size() - at)),
                Instant{});
        }
        received += 1000;
        state.PauseTiming();
        wire.carry();
        state.ResumeTiming();
    }
    EK_CHECK(wire.at_server.messages == received, "every event arrived");
    state.SetItemsProcessed(static_cast<std::int64_t>(received));
}
BENCHMARK(receive_single_events);

// A batch of 1000 events in two or three frames, taken apart into its sections.
void receive_batches(benchmark::State& state) {
    struct Splitting : Peer {
        void on_delivery(Link& from, const Delivery& delivery) override {
            Peer::on_delivery(from, delivery);
            ByteView left = delivery.bytes;
            while (!left.empty()) {
                const auto section = next_section(left);
                EK_CHECK(section.ok(), "a data section");
                ++events;
            }
        }
        std::uint64_t events = 0;
    };
    Wire wire;
    Splitting splitting;
    Connection server({}, splitting, Instant{});
    Connection client(Wire::client_options(), wire.at_client, Instant{});
    const auto carry = [&] {
        for (int i = 0; i < 6; ++i) {
            client.take_output(wire.buffer);
            server.receive(wire.buffer, Instant{});
            server.take_output(wire.buffer);
            client.receive(wire.buffer, Instant{});
        }
    };
    carry();
    Attach attach;
    attach.name = "bench";
    Link& sender = client.attach(client.begin(), attach);
    carry();
    Buffer batch;
    Encoder encoder(batch);
    for (int i = 0; i < 1000; ++i) {
        encoder.descriptor(static_cast<std::uint8_t>(descriptor::data));
        encoder.binary(as_bytes(std::string(100, 'b')));
    }
    Buffer frames;
    for (auto _ : state) {
        state.PauseTiming();
        sender.send({}, batch, batch_format, false);
        client.take_output(frames);
        state.ResumeTiming();
        server.receive(frames, Instant{});
        state.PauseTiming();
        carry();
        state.ResumeTiming();
    }
    EK_CHECK(splitting.events == 1000 * static_cast<std::uint64_t>(state.iterations()), "all");
    state.SetItemsProcessed(static_cast<std::int64_t>(splitting.events));
}
BENCHMARK(receive_batches);

}  // namespace
}  // namespace evenkeel::amqp
