// The admin interface of a running hub, call by call. Each waits for its answer.
//
// Where it is, the hub itself says by AMQP, unless a URL was given. Before the first call the two
// are compared: the hub of the connection string and the one behind the URL must have the same
// identity, so that a command never changes another hub than the one it was given. Each request
// names that identity too, and a hub that is another one refuses it.
//
// Errors have the code that the hub answers with; `not_allowed` for a token that is refused or
// lacks a right; `unavailable` if the server at that address is not Evenkeel; `conflict` if it is
// another hub.
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/remote/dialer.h"
#include "cli/remote/remote.h"
#include <evenkeel/hub.h>

namespace evenkeel::cli {

// A rule: a name with two keys, and what they allow.
struct KeyInfo {
    std::string name;
    std::string event_hub;            // empty: all of them
    std::vector<std::string> rights;  // Send, Listen, Manage
    bool is_fixed = false;            // from the configuration: it cannot be changed from here
    Secret primary;                   // empty in lists
    Secret secondary;
};

// What a running hub says of a partition, beside what it holds.
struct PartitionState : PartitionInfo {
    double events_in_per_second = 0;
    double events_out_per_second = 0;
    Timestamp oldest_enqueued_time = {};  // 0: empty, or not known
};

class AdminClient {
public:
    // `remote` outlives it.
    explicit AdminClient(const Remote& remote);

    // Its address. Errors: the hub cannot be reached, or does not say.
    Result<http::Url> url();
    // Compares the hub with the one at url(), once, as each call does first.
    Result<> meet();

    struct Health {
        bool is_healthy = false;
        std::string message;
        std::optional<WallTime> clock;  // of the hub, to the second
        std::string identity;           // of the hub; empty: it does not tell
    };
    Result<Health> health();  // of url(), whichever hub that is

    // Prometheus text.
    Result<std::string> metrics() { return call("GET", "/metrics"); }

    Result<std::vector<EventHubInfo>> hubs();
    Result<EventHubInfo> hub(std::string_view name);
    Result<std::vector<PartitionState>> partitions(std::string_view name);
    Result<EventHubInfo> create(std::string_view name, const EventHubChange& wanted);
    Result<EventHubInfo> alter(std::string_view name, const EventHubChange& change);
    // Of all partitions without one; all events without a number.
    Result<> purge(std::string_view name, std::optional<std::uint32_t> partition,
                   std::optional<std::int64_t> before_sequence_number);
    Result<> remove(std::string_view name);

    Result<> create_group(std::string_view event_hub, std::string_view group);
    Result<> remove_group(std::string_view event_hub, std::string_view group);

    // With an event hub: its own keys; without: all there are, or those of the whole namespace.
    Result<std::vector<KeyInfo>> keys(std::string_view event_hub);
    Result<KeyInfo> key(std::string_view event_hub, std::string_view name);
    Result<KeyInfo> create_key(std::string_view event_hub, std::string_view name,
                               const std::vector<std::string>& rights);
    // `which` is primary or secondary.
    Result<KeyInfo> rotate_key(std::string_view event_hub, std::string_view name,
                               std::string_view which);
    Result<> remove_key(std::string_view event_hub, std::string_view name);

private:
    // What the hub says of itself by AMQP, asked once.
    const Result<eventhubs::Greeting>& greeting();
    // The body of an answer that is no error.
    Result<std::string> call(std::string_view method, const std::string& path,
                             std::string body = {});

    const Remote& remote_;
    Dialer dialer_;
    std::optional<Result<eventhubs::Greeting>> greeting_;
    bool is_met_ = false;
    std::string identity_;  // of both; empty: not known
    std::string unknown_;   // why they could not be compared, so that nothing may be changed
};

}  // namespace evenkeel::cli
