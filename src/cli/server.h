// A whole hub with its listeners: what `dev` and `serve` run. Threads around a Namespace and a
// Door.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "door/access.h"
#include "door/door.h"
#include "io/socket.h"
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
    std::vector<door::Rule> rules;
    door::DoorOptions door;
    std::vector<EventHubWish> event_hubs;  // made if they are not there
};

// Threads: the one that opened it.
class Server {
public:
    static Result<std::unique_ptr<Server>> open(ServerOptions options);
    // Tells clients that it goes, flushes, ends all threads.
    ~Server();

    // With the real port.
    const io::Endpoint& amqp() const;
    std::vector<EventHubInfo> event_hubs();

private:
    struct State;
    explicit Server(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace evenkeel::cli
