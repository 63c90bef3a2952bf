// A whole hub with its listeners: what `dev` and `serve` run. Threads around a Namespace and a
// Door.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dashboard/demo_controls.h"
#include "dashboard/groups.h"
#include "door/admin/event_resource.h"
#include "door/auth/access.h"
#include "door/auth/key_set.h"
#include "door/door.h"
#include "http/site.h"
#include "io/socket.h"
#include "io/tls.h"
#include <evenkeel/hub.h>

namespace evenkeel::server {

struct EventHubWish {
    std::string name;
    EventHubOptions options;
    std::vector<std::string> groups;
};

struct ServerOptions {
    HubOptions hub;
    std::vector<io::Endpoint> amqp{{"127.0.0.1", 5672}};
    std::vector<io::Endpoint> amqps;
    std::vector<io::Endpoint> http;  // admin, health and AMQP over WebSocket
    std::vector<io::Endpoint> https;
    std::optional<io::Endpoint> health;       // one more of `http`, where the emulator has its own
    std::optional<io::TlsIdentity> identity;  // needed for amqps and https
    std::vector<door::Rule> rules;            // beside those in the data folder
    // Without any rule no client could connect: one with all rights is created in the data folder.
    bool make_first_rule = false;
    bool trust_this_host = false;  // the admin interface wants no token from here
    // Beside loopback, addresses and the names in the certificate.
    http::SiteOptions site;
    door::DoorOptions door;
    // An identity provider's keys that are fetched, instead of those in `door`.
    std::optional<door::KeySetOptions> key_set;
    std::vector<EventHubWish> event_hubs;  // made if they are not there
    dashboard::GroupsOptions groups;       // whose stores are looked into
    dashboard::DemoControls demo;          // buttons of the demo
    door::EventFilterParser event_filter;  // for the dashboard's events; none: no filters
};

// Threads: the one that opened it.
class Server {
public:
    static Result<std::unique_ptr<Server>> open(const ServerOptions& options);
    // The same in two steps. listen() takes clients at once; until finish_start() has returned,
    // they hear `server-busy` for partitions that are not yet recovered, and /health tells how far
    // that is. cancel_start() makes finish_start() return soon, with `cancelled`.
    static Result<std::unique_ptr<Server>> listen(const ServerOptions& options);
    Result<> finish_start(const ServerOptions& options);
    void cancel_start();
    // Drains: takes no more clients, answers what was taken, tells those that are there, flushes,
    // and ends all threads. Clients that do not answer are cut after `drain_time_max`.
    static constexpr auto drain_time_max = std::chrono::seconds(3);
    ~Server();

    // With the real ports, of several the first; 0 for what was not asked for.
    struct Ports {
        std::uint16_t amqp = 0;
        std::uint16_t amqps = 0;
        std::uint16_t http = 0;
        std::uint16_t https = 0;
        std::uint16_t health = 0;
    };
    const Ports& ports() const;
    // All of them: "amqp://127.0.0.1:5672"
    const std::vector<std::string>& addresses() const;
    // Takes in what may change while clients are connected: certificate, rules, identity provider,
    // throttle and quotas, names, and event hubs that are not there yet. On an error what came
    // before holds.
    Result<> reload(const ServerOptions& options);
    // Runs the task on the loop, later.
    void post(Task task);
    std::vector<EventHubInfo> event_hubs();
    // Calls `start` with the hub, on its loop, and waits for what it answers.
    Result<> call(Callback<void(hub::Namespace&, Callback<void(Result<>)>)> start);

    // The ports as JSON, for --ready-file.
    std::string ready_text() const;

private:
    struct State;
    explicit Server(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace evenkeel::server
