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
    ThrottleOptions throttle = {};
    std::shared_ptr<const JwtVerifier> jwt = {};  // none: tokens of type jwt are refused
    PeerTimes times = {};
};

class Door {
public:
    // All of them outlive the door.
    Door(io::Loop& loop, io::Executor& reads, io::Network& network, hub::Namespace& hubs,
         AccessRules rules, const DoorOptions& options);
    ~Door();

    // Plain AMQP; the real port if 0 was asked for.
    Result<io::Endpoint> listen(const io::Endpoint& endpoint);
    // The same with a listener of another kind, TLS say.
    void serve(std::unique_ptr<io::Listener> listener);
    // A client that came in another way, by a WebSocket say: AMQP bytes from here on.
    void adopt(std::unique_ptr<io::Socket> socket);
    // Takes no more clients, settles what is on its way to disk and tells those that are there;
    // `done` runs when all have gone, or were cut because they did not answer in time: in that of
    // PeerTimes, and within `limit` all together.
    void stop(Task done, std::optional<Duration> limit = std::nullopt);

    std::size_t connection_count() const { return peers_.size(); }
    // To ask, or to replace: links whose key has gone are closed at the next tick.
    AccessRules& rules() { return rules_; }
    // For tokens from now on; those that were taken hold until they expire.
    void set_jwt(std::shared_ptr<const JwtVerifier> jwt) { jwt_ = std::move(jwt); }
    void set_throttle(const ThrottleOptions& options);

private:
    // More than allowed are told so, as long as they are not too many themselves.
    static constexpr std::uint32_t refused_max = 100;

    void accept(io::Listener& listener);
    void tick();
    void finish_stop_if_empty();

    io::Loop& loop_;
    io::Network& network_;
    AccessRules rules_;
    const DoorOptions options_;
    std::shared_ptr<const JwtVerifier> jwt_;
    Throttle throttle_;
    Producers producers_;
    Recall recall_;
    const PeerContext context_;
    std::vector<std::unique_ptr<io::Listener>> listeners_;
    std::map<std::uint64_t, std::unique_ptr<Peer>> peers_;
    std::uint64_t last_peer_ = 0;
    std::optional<io::TimerId> timer_;
    std::optional<io::TimerId> stop_timer_;
    bool stopping_ = false;
    Task stopped_;
    // Ours as long as the door is there; tasks that come back look at it first.
    std::shared_ptr<Door> alive_{this, [](Door*) {}};
};

}  // namespace evenkeel::door
