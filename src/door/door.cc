#include "door/door.h"

#include <fmt/core.h>

#include "base/log.h"
#include "base/memory.h"

namespace evenkeel::door {
namespace {

constexpr auto tick_interval = std::chrono::seconds(1);
constexpr auto give_back_interval = std::chrono::seconds(5);
constexpr auto accept_pause = std::chrono::milliseconds(100);

Refusal reason_of(Crowd::Verdict verdict) {
    switch (verdict) {
        case Crowd::Verdict::welcome:
        case Crowd::Verdict::full: break;
        case Crowd::Verdict::too_many_strangers: return Refusal::unauthenticated;
        case Crowd::Verdict::too_many_of_address: return Refusal::address;
    }
    return Refusal::connections;
}

}  // namespace

std::string_view name_of(Transport transport) {
    switch (transport) {
        case Transport::tcp: return "amqp";
        case Transport::tls: return "amqps";
        case Transport::websocket: return "websocket";
    }
    return "";
}

Door::Door(io::Loop& loop, io::Executor& reads, io::Network& network, hub::Namespace& hubs,
           AccessRules rules, const DoorOptions& options)
    : loop_(loop),
      network_(network),
      rules_(std::move(rules)),
      options_(options),
      jwt_(options.jwt),
      quotas_(options.throttle, options.quotas, loop.clock().now()),
      recall_(loop, reads, producers_),
      crowd_({.connections_max = options.connections_max,
              .unauthenticated_max = options.unauthenticated_max,
              .per_address_max = options.connections_per_address_max}),
      activity_(options.metrics ? *options.metrics : unseen_, loop.clock()),
      context_{loop,
               reads,
               hubs,
               rules_,
               jwt_,
               quotas_,
               producers_,
               recall_,
               crowd_,
               activity_,
               options.times,
               options.message_bytes_max,
               options.accept_any_token,
               &greeting_} {}

Door::~Door() = default;

Result<io::Endpoint> Door::listen(const io::Endpoint& endpoint) {
    loop_.check_here();
    EK_TRY_ASSIGN(auto listener, network_.listen(endpoint));
    const io::Endpoint local = listener->local();
    serve(std::move(listener));
    return local;
}

void Door::serve(std::unique_ptr<io::Listener> listener, Transport transport) {
    loop_.check_here();
    listeners_.push_back(std::move(listener));
    accept(*listeners_.back(), transport);
}

ConnectionPage Door::connections(const ConnectionQuery& query) const {
    loop_.check_here();
    ConnectionPage page;
    for (const auto& [id, peer] : peers_) {
        const bool is_wanted = id > query.after && page.connections.size() < query.limit;
        if (query.hub.empty() && !is_wanted) {
            ++page.total;
            continue;
        }
        auto info = peer->info(query.hub);
        if (!info) continue;
        ++page.total;
        if (is_wanted) page.connections.push_back(std::move(*info));
    }
    const bool is_full = page.connections.size() == query.limit;
    if (is_full && page.connections.back().id < last_peer_) page.next = page.connections.back().id;
    return page;
}

void Door::set_admin_ports(std::uint16_t http, std::uint16_t https) {
    loop_.check_here();
    greeting_.http_port = http;
    greeting_.https_port = https;
}

void Door::set_quotas(const ThrottleOptions& whole, const std::vector<QuotaOptions>& quotas) {
    loop_.check_here();
    quotas_.change(whole, quotas, loop_.clock().now());
    for (auto& [id, peer] : peers_) peer->count_again();
}

void Door::accept(io::Listener& listener, Transport transport) {
    listener.accept([this, &listener, transport](Result<std::unique_ptr<io::Socket>> socket) {
        if (stopping_) return;
        if (socket.ok()) {
            adopt(std::move(*socket), transport);
            return accept(listener, transport);
        }
        // Descriptors ran out, most likely: those that are there go on, and we try again.
        trace(TraceLevel::warning, "a client was not accepted", {{"cause", socket.error().detail}});
        loop_.run_after(accept_pause, lifetime_.guard([this, &listener, transport] {
            if (!stopping_) accept(listener, transport);
        }));
    });
}

void Door::adopt(std::unique_ptr<io::Socket> socket, Transport transport) {
    loop_.check_here();
    if (stopping_) return;  // closed by its destruction
    const std::uint64_t id = ++last_peer_;
    const auto admission = crowd_.admit(id, socket->peer().host, loop_.clock().now());
    const bool refused = admission.verdict != Crowd::Verdict::welcome;
    const Visitor visitor{socket->peer()};
    if (refused) {
        activity_.refused(reason_of(admission.verdict), visitor, "connection",
                          refusal_of(admission.verdict).description);
        if (leaving_count() >= refused_max) return;
    }
    if (admission.displaced) displace(*admission.displaced);
    auto& peer = peers_[id];
    auto gone = lifetime_.guard([this, id] {
        crowd_.leave(id);
        peers_.erase(id);
        finish_stop_if_empty();
    });
    peer = std::make_unique<Peer>(context_, id, std::move(socket), std::move(gone), transport);
    if (refused) peer->refuse(refusal_of(admission.verdict));
    activity_.connected();
    peer->start();
    if (!timer_.is_pending()) timer_.run_after(tick_interval, [this] { tick(); });
}

void Door::displace(Crowd::Id id) {
    const auto found = peers_.find(id);
    if (found == peers_.end()) return;
    activity_.refused(Refusal::unauthenticated, found->second->visitor(), "connection",
                      "gave its place to another one");
    if (leaving_count() > refused_max) return found->second->cut();
    found->second->close({std::string(amqp::condition::resource_limit),
                          "The connection gave its place to another one, because it had not logged "
                          "in; send a token to $cbs at once after open."});
}

amqp::Condition Door::refusal_of(Crowd::Verdict verdict) const {
    std::string why;
    switch (verdict) {
        case Crowd::Verdict::welcome: break;
        case Crowd::Verdict::full:
            why = fmt::format(
                "The namespace has its {} connections already; close one, or raise "
                "connections_max.",
                options_.connections_max);
            break;
        case Crowd::Verdict::too_many_strangers:
            why = fmt::format(
                "{} connections that have not logged in are there already; try again, or raise "
                "unauthenticated_max.",
                crowd_.options().unauthenticated_max);
            break;
        case Crowd::Verdict::too_many_of_address:
            why = fmt::format(
                "There are {} connections from this address already; close one, or raise "
                "connections_per_address_max.",
                crowd_.options().per_address_max);
            break;
    }
    return {std::string(amqp::condition::resource_limit), std::move(why)};
}

void Door::tick() {
    const Instant now = loop_.clock().now();
    for (auto& [id, peer] : peers_) let_go_ = peer->tick(now) || let_go_;
    activity_.tick();
    if (let_go_ && now - given_back_at_ >= give_back_interval) {
        let_go_ = false;
        given_back_at_ = now;
        context_.reads.post([] { release_freed_memory(); });
    }
    // With nobody there, there is nothing to look after.
    if (!peers_.empty()) timer_.run_after(tick_interval, [this] { tick(); });
}

void Door::stop(Task done, std::optional<Duration> limit) {
    loop_.check_here();
    stopping_ = true;
    listeners_.clear();
    stopped_ = std::move(done);
    for (auto& [id, peer] : peers_) {
        peer->close({std::string(amqp::condition::connection_forced), "The hub is shutting down."});
    }
    if (limit && !peers_.empty()) {
        stop_timer_.run_after(*limit, [this] {
            for (auto& [id, peer] : peers_) peer->cut();
        });
    }
    finish_stop_if_empty();
}

void Door::finish_stop_if_empty() {
    if (!stopping_ || !peers_.empty() || !stopped_) return;
    Task done = std::move(stopped_);
    done();
}

}  // namespace evenkeel::door
