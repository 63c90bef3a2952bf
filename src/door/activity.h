// What clients do, for operators: log lines and metrics. A kind of line is written a number of
// times a second at most; how many more there were is logged when that second is over.
//
//   debug   connections opened and closed, logins
//   info    refusals with their reason, displaced readers and connections
//   audit   refused logins (base/audit.h)
//
// Metrics are those of docs/admin-api.md. Those by event hub are counted here, by what comes and
// goes over AMQP and is sent over HTTP, and forgotten with the event hub.
// Threads: pinned to the hub's loop.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/audit.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "base/task.h"
#include "io/socket.h"

namespace evenkeel::door {

class Quota;

// Of one event hub, since the server was started.
struct HubTraffic {
    std::uint64_t events_in = 0;
    std::uint64_t bytes_in = 0;
    std::uint64_t events_out = 0;
    std::uint64_t bytes_out = 0;
};

// Why something was refused; the label of evenkeel_refusals_total.
enum class Refusal : std::uint8_t {
    connections,      // there are connections_max
    unauthenticated,  // too many without a login, or displaced by another of them
    address,          // too many of one address
    no_login,         // no token in time
    login,            // a bad key or token
    right,            // the token does not allow it
    unknown_hub,      // or consumer group or partition
    link,             // any other reason
    throttled,        // by the namespace
    hub_rate,         // by an event hub's quota
    key_rate,         // by a key's
    key_connections,  // a key has its connections
    hub_connections,  // an event hub has
};
inline constexpr std::size_t refusal_count = 13;
std::string_view name_of(Refusal reason);
// Of an event beyond this quota.
Refusal reason_of(const Quota& quota);

// A client as lines name it.
struct Visitor {
    io::Endpoint from;
    std::string container = {};  // what it calls itself
};

class Activity {
public:
    static constexpr std::uint32_t lines_per_second = 20;  // of a kind

    Activity(Metrics& metrics, const Clock& clock);

    void connected();
    void opened(const Visitor& visitor);
    void disconnected(const Visitor& visitor, std::string_view why);
    void link_opened(bool is_sender) { (is_sender ? senders_ : receivers_).add(1); }
    void link_closed(bool is_sender) { (is_sender ? senders_ : receivers_).add(-1); }
    void logged_in(const Visitor& visitor, std::string_view who);
    // `who` is what the client said, which nobody has proved.
    void login_refused(const Visitor& visitor, std::string_view who, std::string_view why);
    void refused(Refusal reason, const Visitor& visitor, std::string_view what,
                 std::string_view why);
    void reader_displaced(const Visitor& visitor, std::string_view what, std::string_view why);
    // From arrival to acknowledgement.
    void stored(Duration time) { store_time_.observe(time.count()); }
    // That are open now.
    std::int64_t connections() const { return connections_.value(); }
    // Says what was left out. About once a second.
    void tick();

    // Of the event hub with this folded name; the same for all who ask until it is forgotten.
    std::shared_ptr<HubTraffic> hub(const std::string& folded);
    // The metrics by event hub as text for Prometheus; forgets those that are not there any more.
    std::string hubs_text(Callback<bool(const std::string&)> is_there);

private:
    enum class Kind : std::uint8_t { opened, closed, login, refused_login, refused, displaced };
    static constexpr std::size_t kind_count = 6;
    struct Limit {
        Instant since;
        std::uint32_t lines = 0;
        std::uint64_t left_out = 0;
    };

    // True if a line of this kind may be written.
    bool allows(Kind kind);
    void settle(Kind kind, Instant now);

    const Clock& clock_;
    std::array<Limit, kind_count> limits_{};
    std::array<Counter*, refusal_count> refusals_{};
    Gauge& connections_;
    Counter& connections_opened_;
    Gauge& senders_;
    Gauge& receivers_;
    Counter& logins_;
    Histogram& store_time_;
    std::map<std::string, std::shared_ptr<HubTraffic>> hubs_;
};

}  // namespace evenkeel::door
