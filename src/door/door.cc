#include "door/door.h"

#include <fmt/core.h>

#include "base/log.h"

namespace evenkeel::door {
namespace {

constexpr auto tick_interval = std::chrono::seconds(1);
constexpr auto accept_pause = std::chrono::milliseconds(100);

}  // namespace

Door::Door(io::Loop& loop, io::Executor& reads, io::Network& network, hub::Namespace& hubs,
           AccessRules rules, const DoorOptions& options)
    : loop_(loop),
      network_(network),
      rules_(std::move(rules)),
      options_(options),
      jwt_(options.jwt),
      throttle_(options.throttle, loop.clock().now()),
      recall_(loop, reads, hubs, producers_),
      context_{loop,
               reads,
               hubs,
               rules_,
               jwt_,
               throttle_,
               producers_,
               recall_,
               options.times,
               options.message_bytes_max,
               options.accept_any_token} {}

Door::~Door() {
    if (timer_) loop_.cancel(*timer_);
    if (stop_timer_) loop_.cancel(*stop_timer_);
}

Result<io::Endpoint> Door::listen(const io::Endpoint& endpoint) {
    loop_.check_here();
    EK_TRY_ASSIGN(auto listener, network_.listen(endpoint));
    const io::Endpoint local = listener->local();
    serve(std::move(listener));
    return local;
}

void Door::serve(std::unique_ptr<io::Listener> listener) {
    loop_.check_here();
    listeners_.push_back(std::move(listener));
    accept(*listeners_.back());
}

void Door::set_throttle(const ThrottleOptions& options) {
    throttle_.change(options, loop_.clock().now());
}

void Door::accept(io::Listener& listener) {
    listener.accept([this, &listener](Result<std::unique_ptr<io::Socket>> socket) {
        if (stopping_) return;
        if (socket.ok()) {
            adopt(std::move(*socket));
            return accept(listener);
        }
        // Descriptors ran out, most likely: those that are there go on, and we try again.
        trace(TraceLevel::warning, "a client was not accepted", {{"cause", socket.error().detail}});
        loop_.run_after(accept_pause, [this, &listener, alive = std::weak_ptr<Door>(alive_)] {
            if (!alive.expired() && !stopping_) accept(listener);
        });
    });
}

void Door::adopt(std::unique_ptr<io::Socket> socket) {
    loop_.check_here();
    if (stopping_ || peers_.size() >= std::size_t{options_.connections_max} + refused_max) {
        return;  // closed by its destruction
    }
    const std::uint64_t id = ++last_peer_;
    const bool refused = peers_.size() >= options_.connections_max;
    auto& peer = peers_[id];
    peer = std::make_unique<Peer>(context_, std::move(socket),
                                  [this, id, alive = std::weak_ptr<Door>(alive_)] {
                                      if (alive.expired()) return;
                                      peers_.erase(id);
                                      finish_stop_if_empty();
                                  });
    if (refused) {
        peer->refuse({std::string(amqp::condition::resource_limit),
                      fmt::format("The namespace has its {} connections already; close one, or "
                                  "raise connections_max.",
                                  options_.connections_max)});
    }
    peer->start();
    if (!timer_) timer_ = loop_.run_after(tick_interval, [this] { tick(); });
}

void Door::tick() {
    timer_.reset();
    const Instant now = loop_.clock().now();
    for (auto& [id, peer] : peers_) peer->tick(now);
    // With nobody there, there is nothing to look after.
    if (!peers_.empty()) timer_ = loop_.run_after(tick_interval, [this] { tick(); });
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
        stop_timer_ = loop_.run_after(*limit, [this] {
            stop_timer_.reset();
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
