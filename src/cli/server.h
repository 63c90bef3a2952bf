// A whole hub with its listeners: what `dev` and `serve` run. Threads around a Namespace and a
// Door.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "door/access.h"
#include "door/door.h"
#include "io/socket.h"
#include "io/tls.h"
#include <evenkeel/hub.h>

namespace evenkeel::cli {

struct EventHubWish {
    std::string name;
    EventHubOptions options;
    std::vector<std::string> groups;
};

struct ServerOptions {
    HubOptions hub;
    io::Endpoint amqp{"127.0.0.1", 5672};
    std::optional<io::Endpoint> amqps;
    std::optional<io::Endpoint> http;  // admin, health and AMQP over WebSocket
    std::optional<io::Endpoint> https;
    std::optional<io::TlsIdentity> identity;  // needed for amqps and https
    std::vector<door::Rule> rules;
    door::DoorOptions door;
    std::vector<EventHubWish> event_hubs;  // made if they are not there
};

// Threads: the one that opened it.
class Server {
public:
    static Result<std::unique_ptr<Server>> open(const ServerOptions& options);
    // Tells clients that it goes, flushes, ends all threads.
    ~Server();

    // With the real ports; 0 for what was not asked for.
    struct Ports {
        std::uint16_t amqp = 0;
        std::uint16_t amqps = 0;
        std::uint16_t http = 0;
        std::uint16_t https = 0;
    };
    const Ports& ports() const;
    std::vector<EventHubInfo> event_hubs();
    // Calls `start` with the hub, on its loop, and waits for what it answers.
    Result<> call(Callback<void(hub::Namespace&, Callback<void(Result<>)>)> start);

private:
    struct State;
    explicit Server(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace evenkeel::cli
