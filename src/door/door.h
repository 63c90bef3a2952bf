// Where clients come in: listens, and keeps the peers that are connected.
// Threads: pinned to the hub's loop.
#pragma once

#include <map>
#include <memory>

#include "door/access.h"
#include "door/peer.h"
#include "io/socket.h"

namespace evenkeel::door {

struct DoorOptions {
    std::uint32_t connections_max = 10'000;
    bool accept_any_token = false;
    std::uint64_t message_bytes_max = 1 << 20;
};

class Door {
public:
    // All of them outlive the door.
    Door(io::Loop& loop, io::Executor& reads, io::Network& network, hub::Namespace& hubs,
         AccessRules rules, const DoorOptions& options);
    ~Door();

    // Plain AMQP; the real port if 0 was asked for.
    Result<io::Endpoint> listen(const io::Endpoint& endpoint);
    // Takes no more clients and tells those that are there; `done` runs when all have gone.
    void stop(Task done);
    std::size_t connection_count() const { return peers_.size(); }

private:
    void accept(io::Listener& listener);
    void add(std::unique_ptr<io::Socket> socket);
    void tick();

    io::Loop& loop_;
    io::Network& network_;
    const AccessRules rules_;
    const DoorOptions options_;
    const PeerContext context_;
    std::vector<std::unique_ptr<io::Listener>> listeners_;
    std::map<std::uint64_t, std::unique_ptr<Peer>> peers_;
    std::uint64_t last_peer_ = 0;
    std::optional<io::TimerId> timer_;
    bool stopping_ = false;
    Task stopped_;
};

}  // namespace evenkeel::door
