#include "http/server.h"

#include <utility>

#include "base/log.h"
#include "http/connection.h"

namespace evenkeel::http {

namespace {
constexpr Duration accept_pause = std::chrono::milliseconds(100);
}

Server::Server(io::Loop& loop, ServerOptions options, Handler handler,
               WebSocketHandler on_websocket)
    : loop_(loop),
      options_(std::move(options)),
      handler_(std::move(handler)),
      on_websocket_(std::move(on_websocket)) {}

Server::~Server() {
    loop_.check_here();
}

void Server::serve(std::unique_ptr<io::Listener> listener) {
    loop_.check_here();
    listeners_.push_back(std::move(listener));
    accept(*listeners_.back());
}

void Server::accept(io::Listener& listener) {
    listener.accept([this, &listener](Result<std::unique_ptr<io::Socket>> socket) {
        if (socket) {
            add(std::move(*socket));
            accept(listener);
            return;
        }
        // Out of descriptors, say: others will end.
        loop_.run_after(accept_pause, lifetime_.guard([this, &listener] {
            if (!stopping_) accept(listener);
        }));
    });
}

void Server::add(std::unique_ptr<io::Socket> socket) {
    loop_.check_here();
    if (stopping_ || (connections_.size() >= options_.connections_max && !end_idle())) return;
    const std::uint64_t id = ++last_id_;
    auto connection = std::make_unique<Connection>(*this, id, std::move(socket));
    Connection& added = *connection;
    connections_.emplace(id, std::move(connection));
    added.start();
}

void Server::stop(Task done) {
    loop_.check_here();
    stopping_ = true;
    stopped_ = std::move(done);
    listeners_.clear();
    std::vector<Connection*> all;
    for (const auto& [id, connection] : connections_) all.push_back(connection.get());
    for (Connection* connection : all) connection->stop();
    if (connections_.empty() && stopped_) loop_.post(std::exchange(stopped_, nullptr));
}

bool Server::end_idle() {
    Connection* idle = nullptr;
    for (const auto& [id, connection] : connections_) {
        if (!connection->is_idle()) continue;
        if (!idle || connection->last_answer() < idle->last_answer()) idle = connection.get();
    }
    if (idle) idle->stop();
    return idle != nullptr;
}

void Server::remove(std::uint64_t id) {
    const auto found = connections_.find(id);
    if (found == connections_.end()) return;
    // One of its own calls is on the stack.
    loop_.post([gone = std::move(found->second)] {});
    connections_.erase(found);
    if (stopping_ && connections_.empty() && stopped_) {
        loop_.post(std::exchange(stopped_, nullptr));
    }
}

}  // namespace evenkeel::http
