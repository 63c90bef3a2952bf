// An engine, its peer and its owner, all played by the bytes of a fuzzer.
//
// Each step begins with a byte: some are frames as bytes, some are well-formed frames with fields
// from the next bytes, some are time, and some are what the owner does. The handler reacts by bytes
// too. What the engine writes is checked: whole frames that decode and fit the peer.
#pragma once

#include <algorithm>
#include <chrono>
#include <set>
#include <string>

#include "amqp/connection.h"
#include "base/check.h"
#include "base/script_fixture.h"

namespace evenkeel::amqp {

class FuzzHandler final : public Handler {
public:
    explicit FuzzHandler(Script& script) : script_(script) {}

    Connection* engine = nullptr;
    std::set<Link*> links;

    bool on_sasl(const SaslInit&) override { return script_.byte() % 8 != 7; }
    void on_open(const Open&) override { react(nullptr); }
    void on_attach(Link& link) override {
        const std::uint8_t what = script_.byte() % 8;
        if (what == 0) return link.refuse({"amqp:not-found", std::string(script_.byte() * 4, 'd')});
        links.insert(&link);
        if (what == 1) return;  // later, or never
        accept(link);
        react(&link);
    }
    void on_attached(Link& link) override { react(&link); }
    void on_delivery(Link& link, const Delivery& delivery) override {
        EK_CHECK(delivery.too_large || delivery.bytes.size() == delivery.size, "AMQP-4");
        if (!delivery.settled) link.settle(delivery.id, {DeliveryState::Kind::accepted, {}});
        react(&link);
    }
    void on_credit(Link& link) override { react(&link); }
    void on_disposition(Link& link, const Disposition&) override { react(&link); }
    void on_detach(Link& link, const std::optional<Condition>&) override {
        EK_CHECK(links.erase(&link) == 1, "a link is detached once");
        EK_CHECK(!link.is_attached(), "and gone by then");
        react(&link);
    }
    void on_end(Session& session, const std::optional<Condition>&) override {
        EK_CHECK(session.is_ended(), "it is ended when that is reported");
    }
    void on_closed(const std::optional<Condition>&) override {
        EK_CHECK(!std::exchange(closed_, true), "closed once");
        EK_CHECK(links.empty(), "all links have been detached");
    }
    bool is_closed() const { return closed_; }

    void accept(Link& link) {
        Attach reply;
        reply.source = link.peer().source;
        reply.target = link.peer().target;
        reply.properties = link.peer().properties;
        reply.initial_delivery_count = script_.number();
        link.accept(std::move(reply));
    }

    // What an owner may do at any time.
    void react(Link* link) {
        switch (script_.byte() % 16) {
            case 0: return link ? link->grant(script_.number()) : void();
            case 1: return link ? send(*link) : void();
            case 2: return link ? send(*link) : void();
            case 3: return link ? link->drained() : void();
            case 4: return link ? drop(*link) : void();
            case 5: return link && script_.byte() % 4 == 0 ? link->session().end({}) : void();
            case 6:
                if (script_.byte() % 16 == 0) engine->close(Condition{"amqp:x", "closing"});
                return;
            case 7:
                if (script_.byte() % 16 == 0) engine->lost();
                return;
            case 8: return link ? link->settle(script_.number(), {}) : void();
            default: return;
        }
    }

private:
    void send(Link& link) {
        const std::string body(std::size_t{script_.byte()} * 16, 'b');
        for (int i = 0; i < 3 && link.can_send(); ++i) {
            link.send(as_bytes("prefix"), as_bytes(body), 0, true);
        }
    }
    void drop(Link& link) {
        link.detach(Condition{"amqp:y", ""});
        links.erase(&link);
    }

    Script& script_;
    bool closed_ = false;
};

// What the engine wrote must be readable by any peer.
inline void check_output(Connection& engine) {
    Buffer bytes;
    engine.take_output(bytes);
    ByteView left = bytes;
    const std::uint32_t limit = std::max<std::uint32_t>(
        512, std::min(engine.options().max_frame_bytes, engine.peer().max_frame_bytes));
    while (!left.empty()) {
        EK_CHECK(left.size() >= 8, "no torn frame");
        if (as_text(left).starts_with("AMQP")) {
            left = left.subspan(8);
            continue;
        }
        const std::uint32_t size = __builtin_bswap32(load<std::uint32_t>(left.data()));
        EK_CHECK(size >= 8 && size <= left.size() && size <= limit, "whole frames that fit");
        ByteView body = left.subspan(8, size - 8);
        if (!body.empty()) {
            const auto decoded = decode_performative(body);
            EK_CHECK(decoded.ok(), "we write what we read");
            EK_CHECK(body.empty() || std::holds_alternative<Transfer>(*decoded), "only payloads");
        }
        left = left.subspan(size);
    }
}

inline Buffer fuzz_frame(std::uint16_t channel, ByteView body, ByteView payload,
                         std::uint8_t type) {
    Buffer frame(8);
    frame[4] = std::byte{2};
    frame[5] = std::byte{type};
    frame[6] = static_cast<std::byte>(channel >> 8);
    frame[7] = static_cast<std::byte>(channel & 0xff);
    frame.insert(frame.end(), body.begin(), body.end());
    frame.insert(frame.end(), payload.begin(), payload.end());
    store(frame.data(), __builtin_bswap32(static_cast<std::uint32_t>(frame.size())));
    return frame;
}

inline Attach fuzz_attach(Script& script, bool answers) {
    Attach attach;
    const std::uint8_t name = script.byte();
    attach.name = answers || name < 240 ? std::string(1, static_cast<char>('a' + name % 4))
                                        : std::string(std::size_t{name} * 4, 'n');
    attach.handle = script.byte() % 4;
    attach.role = script.byte() % 2 == 0 ? Role::sender : Role::receiver;
    attach.initial_delivery_count = script.number();
    const std::uint8_t parts = script.byte();
    if (parts % 8 != 0) attach.source = terminus(descriptor::source, "hub");
    if (parts % 16 != 1) attach.target = terminus(descriptor::target, "hub");
    return attach;
}

// A well-formed performative of the peer.
inline void fuzz_body(Script& script, Buffer& to) {
    switch (script.byte() % 12) {
        case 0: {
            Open open;
            open.max_frame_bytes = script.byte() * 16u;
            open.channel_max = script.byte();
            open.idle_timeout_ms = script.byte();
            return encode(open, to);
        }
        case 1: {
            Begin begin;
            if (script.byte() % 2) begin.remote_channel = script.byte() % 4;
            begin.next_outgoing_id = script.number();
            begin.incoming_window = script.number();
            begin.handle_max = script.byte();
            return encode(begin, to);
        }
        case 2: return encode(fuzz_attach(script, false), to);
        case 3: return encode(fuzz_attach(script, true), to);
        case 4:
        case 5: {
            Flow flow;
            const std::uint8_t parts = script.byte();
            if (parts & 1) flow.next_incoming_id = script.number();
            flow.incoming_window = script.number();
            if (parts & 2) flow.handle = script.byte() % 4;
            if (parts & 4) flow.delivery_count = script.number();
            if (parts & 8) flow.link_credit = script.number();
            flow.drain = parts & 16;
            flow.echo = parts & 32;
            return encode(flow, to);
        }
        case 6:
        case 7: {
            Transfer transfer;
            const std::uint8_t parts = script.byte();
            transfer.handle = parts & 3;
            if (parts & 4) transfer.delivery_id = script.number();
            if (parts & 8) transfer.message_format = script.number();
            transfer.settled = parts & 16;
            transfer.more = parts & 32;
            transfer.aborted = (parts & 0xc0) == 0xc0;
            return encode(transfer, to);
        }
        case 8: {
            Disposition disposition;
            disposition.role = script.byte() % 4 == 0 ? Role::sender : Role::receiver;
            disposition.first = script.number();
            if (script.byte() % 2) disposition.last = script.number();
            return encode(disposition, to);
        }
        case 9: return encode(Detach{script.byte() % 4u, script.byte() % 2 == 0, {}}, to);
        case 10: return encode(End{}, to);
        default: return script.byte() % 8 == 0 ? encode(Close{}, to) : encode(End{}, to);
    }
}

// One step of the peer or the owner.
inline void fuzz_step(Script& script, Connection& engine, FuzzHandler& handler, Instant& now) {
    const std::uint8_t step = script.byte();
    switch (step % 8) {
        case 0: return engine.receive(script.bytes(script.byte()), now);
        case 1: {
            const std::uint16_t channel = script.byte() % 4;
            return engine.receive(
                fuzz_frame(channel, script.bytes(script.byte()), {}, step & 8 ? 1 : 0), now);
        }
        case 2: return check_output(engine);
        case 3:
            now = now + std::chrono::milliseconds(script.byte() * 100);
            EK_CHECK(engine.tick(now) > now, "time goes on");
            return;
        case 4: {
            if (handler.links.empty()) return;
            Link* const link =
                *std::next(handler.links.begin(), script.byte() % handler.links.size());
            return handler.react(link);
        }
        default: {
            const std::uint16_t channel = script.byte() % 3;
            Buffer body;
            fuzz_body(script, body);
            const Buffer frame = fuzz_frame(channel, body, script.bytes(script.byte()), 0);
            // Cut once, anywhere.
            const std::size_t cut = script.byte() % frame.size();
            engine.receive(ByteView(frame).first(cut), now);
            engine.receive(ByteView(frame).subspan(cut), now);
        }
    }
}

inline ConnectionOptions fuzz_options() {
    ConnectionOptions options;
    options.max_frame_bytes = 1024;
    options.links_max = 8;
    options.max_message_bytes = 2000;
    options.partial_bytes_max = 4000;
    options.session_window = 4;
    options.answer_bytes_max = 20'000;
    return options;
}

}  // namespace evenkeel::amqp
