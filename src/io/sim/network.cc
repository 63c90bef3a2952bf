#include "io/sim/network.h"

#include <string>
#include <utility>

#include "io/sim/connection.h"

namespace evenkeel::io::sim {

namespace {

std::pair<std::string, std::string> edge(std::string_view from, std::string_view to) {
    return {std::string(from), std::string(to)};
}

class SimListener final : public Listener {
public:
    SimListener(Wire& wire, Endpoint local, SimLoop& loop, std::shared_ptr<Backlog> backlog)
        : wire_(wire), local_(std::move(local)), loop_(loop), backlog_(std::move(backlog)) {}
    ~SimListener() override {
        auto& listeners = wire_.hosts[local_.host].listeners;
        const auto found = listeners.find(local_.port);
        // After a crash the port may belong to the host's next life.
        if (found != listeners.end() && found->second == backlog_) listeners.erase(found);
        backlog_->close();
    }

    void accept(SocketCallback done) override {
        loop_.check_here();
        backlog_->accept(std::move(done));
    }
    Endpoint local() const override { return local_; }

private:
    Wire& wire_;
    const Endpoint local_;
    SimLoop& loop_;
    std::shared_ptr<Backlog> backlog_;
};

}  // namespace

class SimNetwork::HostNetwork final : public Network {
public:
    HostNetwork(Wire& wire, std::string name, SimLoop& loop)
        : wire_(wire), name_(std::move(name)), loop_(&loop) {}

    Result<std::unique_ptr<Listener>> listen(const Endpoint& endpoint) override;
    void connect(const Endpoint& endpoint, Duration timeout, SocketCallback done) override;

    const std::string& name() const { return name_; }
    bool is_for(std::string_view name, const SimLoop& loop) const {
        return name_ == name && loop_ == &loop;
    }
    void crash() { loop_ = nullptr; }

private:
    bool is_own(const std::string& host) const {
        return host == name_ || host == "localhost" || host == "127.0.0.1" || host == "::1";
    }

    Wire& wire_;
    const std::string name_;
    SimLoop* loop_;  // null after a crash
};

SimNetwork::SimNetwork(Scheduler& scheduler) : wire_(std::make_shared<Wire>(scheduler)) {}

SimNetwork::~SimNetwork() = default;

Network& SimNetwork::host(std::string_view name, SimLoop& loop) {
    wire_->hosts[std::string(name)].up = true;
    for (const auto& network : networks_) {
        if (network->is_for(name, loop)) return *network;
    }
    networks_.push_back(std::make_unique<HostNetwork>(*wire_, std::string(name), loop));
    return *networks_.back();
}

void SimNetwork::set_delay(Duration min, Duration max) {
    wire_->delay = {min, max};
}

void SimNetwork::set_delay(std::string_view a, std::string_view b, Duration min, Duration max) {
    wire_->delays[edge(a, b)] = {min, max};
    wire_->delays[edge(b, a)] = {min, max};
}

void SimNetwork::cut(std::string_view a, std::string_view b) {
    cut_one_way(a, b);
    cut_one_way(b, a);
}

void SimNetwork::cut_one_way(std::string_view from, std::string_view to) {
    wire_->cuts.insert(edge(from, to));
}

void SimNetwork::heal(std::string_view a, std::string_view b) {
    wire_->cuts.erase(edge(a, b));
    wire_->cuts.erase(edge(b, a));
    wire_->release_held();
}

void SimNetwork::freeze(std::string_view host) {
    wire_->frozen.insert(std::string(host));
}

void SimNetwork::thaw(std::string_view host) {
    wire_->frozen.erase(std::string(host));
    wire_->release_held();
}

void SimNetwork::reset(std::string_view a, std::string_view b) {
    for (const auto& connection : wire_->live_connections()) {
        const std::string& from = connection->address(connector).host;
        const std::string& to = connection->address(acceptor).host;
        if ((from == a && to == b) || (from == b && to == a)) connection->reset();
    }
}

void SimNetwork::crash(std::string_view name) {
    Wire::Host& host = wire_->hosts[std::string(name)];
    host.up = false;
    for (const auto& network : networks_) {
        if (network->name() == name) network->crash();
    }
    for (const auto& connection : wire_->live_connections()) {
        for (const int side : {connector, acceptor}) {
            if (connection->address(side).host == name) connection->lose(side);
        }
    }
    for (const auto& [port, backlog] : std::exchange(host.listeners, {})) backlog->close();
}

Result<std::unique_ptr<Listener>> SimNetwork::HostNetwork::listen(const Endpoint& endpoint) {
    if (!loop_) return Error{ErrorCode::unavailable, name_ + " has crashed"};
    loop_->check_here();
    const std::string doing = "listen on " + to_string(endpoint);
    const bool is_any = endpoint.host == "0.0.0.0" || endpoint.host == "::";
    if (!is_any && !is_own(endpoint.host)) {
        return Error{ErrorCode::invalid_argument, doing + ": not an address of " + name_};
    }
    Wire::Host& host = wire_.hosts[name_];
    const std::uint16_t port = endpoint.port == 0 ? wire_.free_port(host) : endpoint.port;
    auto backlog = std::make_shared<Backlog>(*loop_);
    if (!host.listeners.emplace(port, backlog).second) {
        return Error{ErrorCode::already_exists, doing + ": the port is taken"};
    }
    return std::unique_ptr<Listener>(
        std::make_unique<SimListener>(wire_, Endpoint{name_, port}, *loop_, std::move(backlog)));
}

void SimNetwork::HostNetwork::connect(const Endpoint& endpoint, Duration timeout,
                                      SocketCallback done) {
    if (!loop_) return;
    loop_->check_here();
    const Endpoint from{name_, wire_.free_port(wire_.hosts[name_])};
    const Endpoint to{is_own(endpoint.host) ? name_ : endpoint.host, endpoint.port};
    const auto connection = std::make_shared<Connection>(wire_, from, to);
    wire_.live_connections();  // forgets those that have ended
    wire_.connections.push_back(connection);
    connection->connect(*loop_, timeout, std::move(done));
}

}  // namespace evenkeel::io::sim
