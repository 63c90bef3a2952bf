// tidy: no test: run as a process by the interop and command tests
#include "cli/server.h"

#include <fmt/core.h>

#include "base/metrics.h"
#include "base/promise.h"
#include "door/admin.h"
#include "door/key_ring.h"
#include "http/server.h"
#include "hub/namespace.h"
#include "io/system/files.h"
#include "io/system/loop.h"
#include "io/system/network.h"

namespace evenkeel::cli {
namespace {

using io::system::LoopThread;
using io::system::run_and_wait;
using io::system::WorkerThread;

// Runs a call that answers through a callback on the loop, and waits for the answer.
template <typename Start>
Result<> wait_for(LoopThread& loop, Start start) {
    Promise<Result<>> promise;
    loop.post([&] { start([&promise](Result<> result) { promise.set(std::move(result)); }); });
    return promise.wait();
}

}  // namespace

struct Server::State {
    State() : log_metrics(metrics), loop("loop/0"), metadata("meta/0"), reads("read/0") {}

    Result<> make(const EventHubWish& wish) {
        auto made = wait_for(loop, [&](hub::Namespace::Done done) {
            hubs->create(wish.name, wish.options, std::move(done));
        });
        if (!made.ok() && made.error().code != ErrorCode::already_exists) return made;
        for (const auto& group : wish.groups) {
            made = wait_for(loop, [&](hub::Namespace::Done done) {
                hubs->create_group(wish.name, group, std::move(done));
            });
            if (!made.ok() && made.error().code != ErrorCode::already_exists) return made;
        }
        return {};
    }

    Result<> load_keys(const ServerOptions& options) {
        EK_TRY_ASSIGN(auto stored, door::Keys::load(files, options.hub.directory));
        // A crash may have come between the end of an event hub and that of its rules.
        const auto rules = stored.rules();
        for (const auto& rule : rules) {
            if (rule.hub.empty() || hubs->find(rule.hub).ok()) continue;
            EK_TRY(stored.remove_hub(rule.hub));
        }
        keys = std::make_unique<door::KeyRing>(loop, metadata, door->rules(), std::move(stored),
                                               options.rules);
        return {};
    }

    // Clients that come by TLS speak the same AMQP from then on.
    void accept(io::Listener& listener) {
        listener.accept([this, &listener](Result<std::unique_ptr<io::Socket>> socket) {
            if (socket.ok()) door->adopt(std::move(*socket));
            const bool stopping = amqps.empty();
            if (!stopping) loop.post([this, &listener] { accept(listener); });
        });
    }

    Result<> listen(const ServerOptions& options) {
        EK_TRY_ASSIGN(const auto local, door->listen(options.amqp));
        ports.amqp = local.port;
        if (options.identity) {
            EK_TRY_ASSIGN(tls, io::TlsServerContext::make(*options.identity));
        }
        if (options.amqps) {
            EK_TRY_ASSIGN(auto listener, network->listen(*options.amqps));
            ports.amqps = listener->local().port;
            amqps.push_back(io::tls_listener(loop, std::move(listener), *tls));
            accept(*amqps.back());
        }
        if (!options.http && !options.https) return {};
        admin = std::make_unique<door::Admin>(loop, *hubs, *keys, metrics, door::AdminOptions{});
        http = std::make_unique<http::Server>(
            loop, http::ServerOptions{},
            [this](const http::Request& request, Callback<void(http::Response)> answer) {
                admin->handle(request, std::move(answer));
            },
            [this](const std::string&, const std::string&, std::unique_ptr<io::Socket> socket) {
                door->adopt(std::move(socket));
            });
        if (options.http) {
            EK_TRY_ASSIGN(auto listener, network->listen(*options.http));
            ports.http = listener->local().port;
            http->serve(std::move(listener));
        }
        if (options.https) {
            EK_TRY_ASSIGN(auto listener, network->listen(*options.https));
            ports.https = listener->local().port;
            http->serve(io::tls_listener(loop, std::move(listener), *tls));
        }
        return {};
    }

    io::system::SystemFiles files;
    Metrics metrics;
    commitlog::LogMetrics log_metrics;
    LoopThread loop;
    WorkerThread metadata;
    WorkerThread reads;
    std::vector<std::unique_ptr<WorkerThread>> disks;
    std::unique_ptr<io::system::SystemNetwork> network;
    std::unique_ptr<hub::Namespace> hubs;
    std::unique_ptr<io::TlsServerContext> tls;
    std::unique_ptr<door::Door> door;
    std::unique_ptr<door::KeyRing> keys;
    std::unique_ptr<door::Admin> admin;
    std::unique_ptr<http::Server> http;
    std::vector<std::unique_ptr<io::Listener>> amqps;
    Ports ports;
};

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<Server>> Server::open(const ServerOptions& options) {
    auto state = std::make_unique<State>();
    std::vector<io::Executor*> disks;
    for (std::uint32_t i = 0; i < std::max<std::uint32_t>(1, options.hub.disk_threads); ++i) {
        state->disks.push_back(std::make_unique<WorkerThread>(fmt::format("disk/{}", i)));
        disks.push_back(state->disks.back().get());
    }
    EK_TRY_ASSIGN(state->hubs, hub::Namespace::open({state->files, state->loop, disks,
                                                     state->metadata, state->log_metrics},
                                                    options.hub));
    state->network = std::make_unique<io::system::SystemNetwork>(state->loop);
    state->door = std::make_unique<door::Door>(state->loop, state->reads, *state->network,
                                               *state->hubs, door::AccessRules({}), options.door);
    EK_TRY(state->load_keys(options));
    EK_TRY(state->listen(options));
    state->hubs->start();
    state->loop.start();
    std::unique_ptr<Server> server(new Server(std::move(state)));
    for (const auto& wish : options.event_hubs) EK_TRY(server->state_->make(wish));
    return server;
}

Server::~Server() {
    State& state = *state_;
    (void)wait_for(state.loop, [&](auto done) {
        state.amqps.clear();
        state.http.reset();
        state.door->stop([&state, done = std::move(done)]() mutable {
            state.hubs->close([done = std::move(done)]() mutable { done({}); });
        });
    });
    state.reads.finish();
    state.metadata.finish();
    state.disks.clear();
    state.loop.stop();
}

const Server::Ports& Server::ports() const {
    return state_->ports;
}

Result<> Server::call(Callback<void(hub::Namespace&, Callback<void(Result<>)>)> start) {
    return wait_for(state_->loop,
                    [&](Callback<void(Result<>)> done) { start(*state_->hubs, std::move(done)); });
}

std::vector<EventHubInfo> Server::event_hubs() {
    std::vector<EventHubInfo> all;
    run_and_wait(state_->loop, [&] {
        for (const auto* record : state_->hubs->list()) {
            EventHubInfo info;
            info.name = record->name;
            info.options.partitions = record->partitions;
            info.groups = record->groups;
            info.groups.insert(info.groups.begin(), "$Default");
            all.push_back(std::move(info));
        }
    });
    return all;
}

}  // namespace evenkeel::cli
