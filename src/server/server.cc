// tidy: no test: run as a process by the interop and command tests
#include "server/server.h"

#include <fmt/core.h>

#include "base/log.h"
#include "base/metrics.h"
#include "base/promise.h"
#include "dashboard/dashboard.h"
#include "door/admin/admin.h"
#include "door/auth/key_ring.h"
#include "http/server.h"
#include "hub/namespace.h"
#include "io/system/files.h"
#include "io/system/loop.h"
#include "io/system/network.h"
#include "server/store_threads.h"

namespace evenkeel::server {
namespace {

using io::system::LoopThread;
using io::system::run_and_wait;
using io::system::WorkerThread;

constexpr const char* first_rule = "RootManageSharedAccessKey";

// Runs a call that answers through a callback on the loop, and waits for the answer.
template <typename Start>
Result<> wait_for(LoopThread& loop, Start start) {
    Promise<Result<>> promise;
    loop.post([&] { start([&promise](Result<> result) { promise.set(std::move(result)); }); });
    return promise.wait();
}

// Clients that trust the certificate call the server by the names in it.
http::Site site_of(const ServerOptions& options) {
    http::SiteOptions site = options.site;
    if (options.identity) {
        const auto names = io::names_of(*options.identity);
        site.names.insert(site.names.end(), names.begin(), names.end());
    }
    return http::Site(std::move(site));
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
        EK_TRY_ASSIGN(auto stored, door::Keys::load(hubs->files(), options.hub.directory));
        // A crash may have come between the end of an event hub and that of its rules.
        const auto rules = stored.rules();
        for (const auto& rule : rules) {
            if (rule.hub.empty() || hubs->find(rule.hub).ok()) continue;
            EK_TRY(stored.remove_hub(rule.hub));
        }
        const bool nobody = stored.rules().empty() && options.rules.empty() && !options.door.jwt &&
                            !options.key_set;
        if (nobody && options.make_first_rule) {
            EK_TRY(stored.create({.name = first_rule, .rights = {true, true, true}}));
            trace(TraceLevel::info, "created a first access rule with all rights",
                  {{"rule", first_rule},
                   {"keys_in", options.hub.directory + "/" + door::keys_file_name},
                   {"try", "evenkeel conn --config FILE prints its connection string"}});
        }
        keys = std::make_unique<door::KeyRing>(loop, metadata, door->rules(), std::move(stored),
                                               options.rules);
        return {};
    }

    Result<> listen_at(std::string_view scheme, const std::vector<io::Endpoint>& endpoints,
                       std::uint16_t& port, Callback<void(std::unique_ptr<io::Listener>)> serve) {
        for (const auto& endpoint : endpoints) {
            EK_TRY_ASSIGN(auto listener, network->listen(endpoint));
            const io::Endpoint local = listener->local();
            if (port == 0) port = local.port;
            addresses.push_back(fmt::format("{}://{}", scheme, io::to_string(local)));
            serve(std::move(listener));
        }
        return {};
    }

    // Clients that come by TLS speak the same AMQP or HTTP from then on.
    Result<> listen(const ServerOptions& options) {
        if (options.identity) {
            EK_TRY_ASSIGN(tls, io::TlsServerContext::make(*options.identity));
        }
        const auto encrypted = [this](std::unique_ptr<io::Listener> listener) {
            return io::tls_listener(loop, std::move(listener), *tls);
        };
        EK_TRY(listen_at("amqp", options.amqp, ports.amqp,
                         [&](auto listener) { door->serve(std::move(listener)); }));
        EK_TRY(listen_at("amqps", options.amqps, ports.amqps, [&](auto listener) {
            door->serve(encrypted(std::move(listener)), door::Transport::tls);
        }));
        make_dashboard(options);
        const door::AdminOptions admin_options{
            .jwt = options.door.jwt,
            .accept_any_token = options.door.accept_any_token,
            .trust_this_host = options.trust_this_host,
            .activity = &door->activity(),
            .dashboard = dashboard.get(),
            .connections =
                [this](const door::ConnectionQuery& query) { return door->connections(query); },
            .event_filter = options.event_filter,
            .quotas = &door->quotas()};
        admin = std::make_unique<door::Admin>(loop, reads, *hubs, *keys, metrics, admin_options);
        http = std::make_unique<http::Server>(
            loop, http::ServerOptions{.site = site_of(options)},
            [this](const http::Request& request, Callback<void(http::Response)> answer) {
                admin->handle(request, std::move(answer));
            },
            [this](const std::string&, const std::string&, std::unique_ptr<io::Socket> socket) {
                door->adopt(std::move(socket), door::Transport::websocket);
            });
        const auto serve = [&](auto listener) { http->serve(std::move(listener)); };
        EK_TRY(listen_at("http", options.http, ports.http, serve));
        if (options.health) EK_TRY(listen_at("http", {*options.health}, ports.health, serve));
        EK_TRY(listen_at("https", options.https, ports.https,
                         [&](auto listener) { http->serve(encrypted(std::move(listener))); }));
        door->set_admin_ports(ports.http, ports.https);
        return {};
    }

    void make_dashboard(const ServerOptions& options) {
        dashboard::DashboardOptions wanted;
        wanted.groups = options.groups;
        for (const auto& name : options.site.names) wanted.groups.hosts.push_back(name);
        wanted.demo = options.demo;
        wanted.mode = options.trust_this_host ? "dev" : "serve";
        wanted.amqp_port = ports.amqp;
        wanted.amqps_port = ports.amqps;
        wanted.disk = [this, folder = options.hub.directory] {
            const auto free = files.free_bytes(folder);
            const auto total = io::system::total_bytes(folder);
            dashboard::DiskSpace space;
            if (free.ok()) space.free_bytes = *free;
            if (total.ok()) space.total_bytes = *total;
            return space;
        };
        wanted.connections = [this] {
            return static_cast<std::uint64_t>(
                std::max<std::int64_t>(0, door->activity().connections()));
        };
        dashboard =
            std::make_unique<dashboard::Dashboard>(loop, reads, *hubs, stores, std::move(wanted));
    }

    Result<> apply_jwt(const ServerOptions& options) {
        Result<> applied;
        run_and_wait(loop, [&] { applied = set_jwt(options); });
        return applied;
    }
    // Takes the keys of tokens from now on from where the options say. On the loop.
    Result<> set_jwt(const ServerOptions& options) {
        std::string text;  // what is known of the same place need not be waited for
        if (key_set && options.key_set && key_set->url() == options.key_set->url) {
            text = key_set->text();
        }
        std::unique_ptr<door::KeySet> fetched;
        if (options.key_set) {
            EK_TRY_ASSIGN(fetched,
                          door::KeySet::make(loop, *network, *options.key_set,
                                             [this](std::shared_ptr<const door::JwtVerifier> jwt) {
                                                 admin->set_jwt(jwt);
                                                 door->set_jwt(std::move(jwt));
                                             }));
        }
        key_set = std::move(fetched);
        if (key_set) {
            key_set->start(text);
        } else {
            admin->set_jwt(options.door.jwt);
            door->set_jwt(options.door.jwt);
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
    StoreThreads stores;
    std::unique_ptr<dashboard::Dashboard> dashboard;
    std::unique_ptr<door::Admin> admin;
    std::unique_ptr<http::Server> http;
    std::unique_ptr<door::KeySet> key_set;
    Ports ports;
    std::vector<std::string> addresses;
};

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<Server>> Server::open(const ServerOptions& options) {
    EK_TRY_ASSIGN(auto server, listen(options));
    EK_TRY(server->finish_start(options));
    return server;
}

Result<> Server::finish_start(const ServerOptions& options) {
    EK_TRY(wait_for(state_->loop, [this](hub::Namespace::Done done) {
        state_->hubs->when_recovered(std::move(done));
    }));
    for (const auto& wish : options.event_hubs) EK_TRY(state_->make(wish));
    return {};
}

void Server::cancel_start() {
    state_->loop.post([this] { state_->hubs->stop_recovery(); });
}

Result<std::unique_ptr<Server>> Server::listen(const ServerOptions& options) {
    auto state = std::make_unique<State>();
    std::vector<io::Executor*> disks;
    for (std::uint32_t i = 0; i < std::max<std::uint32_t>(1, options.hub.disk_threads); ++i) {
        state->disks.push_back(std::make_unique<WorkerThread>(fmt::format("disk/{}", i)));
        disks.push_back(state->disks.back().get());
    }
    EK_TRY_ASSIGN(state->hubs, hub::Namespace::open_in_background(
                                   {state->files, state->loop, disks, state->metadata,
                                    state->log_metrics, io::system::boot_id()},
                                   options.hub));
    state->network = std::make_unique<io::system::SystemNetwork>(state->loop);
    door::DoorOptions door_options = options.door;
    door_options.metrics = &state->metrics;
    state->door = std::make_unique<door::Door>(state->loop, state->reads, *state->network,
                                               *state->hubs, door::AccessRules({}), door_options);
    EK_TRY(state->load_keys(options));
    EK_TRY(state->listen(options));
    state->hubs->start();
    state->loop.start();
    std::unique_ptr<Server> server(new Server(std::move(state)));
    EK_TRY(server->state_->apply_jwt(options));
    return server;
}

Server::~Server() {
    State& state = *state_;
    (void)wait_for(state.loop, [&](auto done) {
        state.http->stop([] {});
        state.door->stop(
            [&state, done = std::move(done)]() mutable {
                state.hubs->close([done = std::move(done)]() mutable { done({}); });
            },
            drain_time_max);
    });
    // Those who asked for a change have had their answer; whoever is left does not take it.
    run_and_wait(state.loop, [&] {
        state.key_set.reset();
        state.http.reset();
        state.admin.reset();
        state.dashboard.reset();
    });
    // A store on a mount that is gone may never answer: nothing of the hub's data waits for it.
    const bool have_stores_ended = state.stores.stop(StoreThreads::stop_max);
    if (!have_stores_ended) {
        trace(TraceLevel::warning, "a checkpoint store does not answer; it is not waited for", {});
    }
    state.reads.finish();
    state.metadata.finish();
    state.disks.clear();
    state.loop.stop();
    // Its thread may come back, and post to the loop: which then drops the task.
    if (have_stores_ended) return;
    // Nor may the process be able to end: a successor gets the data folder all the same.
    state.hubs->release_folder();
    (void)state_.release();
}

const Server::Ports& Server::ports() const {
    return state_->ports;
}

const std::vector<std::string>& Server::addresses() const {
    return state_->addresses;
}

void Server::post(Task task) {
    state_->loop.post(std::move(task));
}

std::string Server::ready_text() const {
    const Ports& ports = state_->ports;
    return fmt::format(
        "{{\"amqp_port\":{},\"amqps_port\":{},\"http_port\":{},\"https_port\":{},"
        "\"health_port\":{}}}\n",
        ports.amqp, ports.amqps, ports.http, ports.https, ports.health);
}

Result<> Server::reload(const ServerOptions& options) {
    State& state = *state_;
    // First what can fail.
    for (const auto& wish : options.event_hubs) EK_TRY(state.make(wish));
    if (state.tls && options.identity) EK_TRY(state.tls->replace(*options.identity));
    EK_TRY(state.apply_jwt(options));
    run_and_wait(state.loop, [&] {
        state.keys->set_fixed(options.rules);
        state.door->set_quotas(options.door.throttle, options.door.quotas);
        state.http->set_site(site_of(options));
    });
    return {};
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

}  // namespace evenkeel::server
