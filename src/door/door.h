// Where clients come in: listens, and keeps the peers that are connected.
// Threads: pinned to the hub's loop.
#pragma once

#include <map>
#include <memory>

#include "base/lifetime.h"
#include "door/activity.h"
#include "door/amqp/peer.h"
#include "door/auth/access.h"
#include "door/connections.h"
#include "door/crowd.h"
#include "io/socket.h"
#include "io/timer.h"

namespace evenkeel::door {

struct DoorOptions {
    std::uint32_t connections_max = 10'000;
    std::uint32_t unauthenticated_max = 0;          // of them; 0: half
    std::uint32_t connections_per_address_max = 0;  // 0: as many as there may be
    bool accept_any_token = false;
    std::uint64_t message_bytes_max = 1 << 20;
    ThrottleOptions throttle = {};                // of the namespace
    std::vector<QuotaOptions> quotas = {};        // of event hubs and keys
    std::shared_ptr<const JwtVerifier> jwt = {};  // none: tokens of type jwt are refused
    PeerTimes times = {};
    Metrics* metrics = nullptr;  // outlives the door; none: nobody looks
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
    void serve(std::unique_ptr<io::Listener> listener, Transport transport = Transport::tcp);
    // A client that came in another way, by a WebSocket say: AMQP bytes from here on.
    void adopt(std::unique_ptr<io::Socket> socket, Transport transport = Transport::tcp);
    // Takes no more clients, settles what is on its way to disk and tells those that are there;
    // `done` runs when all have gone, or were cut because they did not answer in time: in that of
    // PeerTimes, and within `limit` all together.
    void stop(Task done, std::optional<Duration> limit = std::nullopt);

    std::size_t connection_count() const { return peers_.size(); }
    // In the order in which they came.
    ConnectionPage connections(const ConnectionQuery& query) const;
    // To ask, or to replace: links whose key has gone are closed at the next tick.
    AccessRules& rules() { return rules_; }
    // For tokens from now on; those that were taken hold until they expire.
    void set_jwt(std::shared_ptr<const JwtVerifier> jwt) { jwt_ = std::move(jwt); }
    Activity& activity() { return activity_; }
    const Quotas& quotas() const { return quotas_; }
    // Where the admin interface listens, as clients hear it from now on; 0: nowhere.
    void set_admin_ports(std::uint16_t http, std::uint16_t https);
    // Other limits from now on, also for those who are there.
    void set_quotas(const ThrottleOptions& whole, const std::vector<QuotaOptions>& quotas);

private:
    // Refused and displaced clients get the reason, unless there are too many of them as well.
    static constexpr std::uint32_t refused_max = 100;

    void accept(io::Listener& listener, Transport transport);
    void displace(Crowd::Id id);
    amqp::Condition refusal_of(Crowd::Verdict verdict) const;
    // Connected, and on their way out.
    std::size_t leaving_count() const { return peers_.size() - crowd_.size(); }
    void tick();
    void finish_stop_if_empty();

    io::Loop& loop_;
    io::Network& network_;
    AccessRules rules_;
    const DoorOptions options_;
    std::shared_ptr<const JwtVerifier> jwt_;
    Quotas quotas_;
    Producers producers_;
    Recall recall_;
    Crowd crowd_;
    Metrics unseen_;
    Activity activity_;
    eventhubs::Greeting greeting_;
    const PeerContext context_;
    std::vector<std::unique_ptr<io::Listener>> listeners_;
    std::map<std::uint64_t, std::unique_ptr<Peer>> peers_;
    std::uint64_t last_peer_ = 0;
    io::Timer timer_{loop_};
    io::Timer stop_timer_{loop_};
    bool let_go_ = false;  // of memory that slow clients held, since it was given to the system
    Instant given_back_at_{};
    bool stopping_ = false;
    Task stopped_;
    Lifetime lifetime_;
};

}  // namespace evenkeel::door
