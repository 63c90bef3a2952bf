#include "door/door.h"

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
      context_{loop, reads, hubs, rules_, options.message_bytes_max, options.accept_any_token} {}

Door::~Door() = default;

Result<io::Endpoint> Door::listen(const io::Endpoint& endpoint) {
    loop_.check_here();
    EK_TRY_ASSIGN(auto listener, network_.listen(endpoint));
    const io::Endpoint local = listener->local();
    listeners_.push_back(std::move(listener));
    accept(*listeners_.back());
    if (!timer_) tick();
    return local;
}

void Door::accept(io::Listener& listener) {
    listener.accept([this, &listener](Result<std::unique_ptr<io::Socket>> socket) {
        if (stopping_) return;
        if (socket.ok()) {
            add(std::move(*socket));
            return accept(listener);
        }
        // Descriptors ran out, most likely: those that are there go on, and we try again.
        trace(TraceLevel::warning, "a client was not accepted", {{"cause", socket.error().detail}});
        loop_.run_after(accept_pause, [this, &listener] {
            if (!stopping_) accept(listener);
        });
    });
}

void Door::add(std::unique_ptr<io::Socket> socket) {
    if (peers_.size() >= options_.connections_max) return;  // closed by its destruction
    const std::uint64_t id = ++last_peer_;
    auto& peer = peers_[id];
    peer = std::make_unique<Peer>(context_, std::move(socket), [this, id] {
        peers_.erase(id);
        if (stopping_ && peers_.empty() && stopped_) {
            Task done = std::move(stopped_);
            done();
        }
    });
    peer->start();
}

void Door::tick() {
    const Instant now = loop_.clock().now();
    for (auto& [id, peer] : peers_) peer->tick(now);
    timer_ = loop_.run_after(tick_interval, [this] { tick(); });
}

void Door::stop(Task done) {
    loop_.check_here();
    stopping_ = true;
    if (timer_) loop_.cancel(*timer_);
    timer_.reset();
    listeners_.clear();
    stopped_ = std::move(done);
    for (auto& [id, peer] : peers_) {
        peer->close({std::string(amqp::condition::connection_forced), "The hub is shutting down."});
    }
    if (peers_.empty()) {
        Task now = std::move(stopped_);
        now();
    }
}

}  // namespace evenkeel::door
