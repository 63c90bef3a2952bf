// A connection to one event hub, of ours or of Azure Event Hubs, that producers and readers share.
//
//   auto client = evenkeel::Client::open({.connection = "Endpoint=sb://localhost;..."}).value();
//   auto reader =
//       evenkeel::RemoteReader::open(*client, "$Default", 0, evenkeel::Position::earliest());
//
// It connects when it is first needed, shows a token, renews it before it ends, and connects again
// after a loss, with growing pauses. One thread of its own. Threads: any; calls block.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <evenkeel/error.h>
#include <evenkeel/hub.h>

namespace evenkeel {

// What is tried again: lost connections, busy or restarting hubs, time-outs. Never what cannot
// succeed as asked: a wrong key, an unknown event hub.
struct RetryOptions {
    std::uint32_t retries_max = 8;         // after the first attempt
    std::chrono::milliseconds delay{200};  // before the first retry; doubles, give or take a fifth
    std::chrono::milliseconds delay_max{10'000};
    std::chrono::milliseconds try_timeout{30'000};  // of one attempt
};

// Proves who this program is: a SAS ("SharedAccessSignature sr=...") or a JWT of an identity
// provider such as Entra. It is not written to any log or error.
struct Token {
    std::string value;
    std::chrono::system_clock::time_point expires;
};

// Gets a token for an audience, "sb://host/event-hub". Called on a thread of its own, one call at a
// time: when the client connects, and again when three quarters of the token's life are over. It
// may block, for at most `try_timeout`; closing the client waits for it. A failure, or an
// exception, is tried again like a lost connection, and while connected until the token has
// expired; `not_allowed` is reported at once.
using Credential = std::function<Result<Token>(const std::string& audience)>;

struct ClientOptions {
    // Azure's, as it is: "Endpoint=sb://host[:port];SharedAccessKeyName=...;SharedAccessKey=...;
    // EntityPath=...", with SharedAccessSignature=... in place of name and key if there is no key
    // at hand, UseDevelopmentEmulator=true for plain TCP, TransportType=AmqpWebSockets. Or
    // "amqp://[key-name:key@]host[:port]/event-hub", and amqps:// for TLS.
    std::string connection = {};
    std::string event_hub = {};     // if the connection string names none
    std::string name = "evenkeel";  // of this program, for operators
    RetryOptions retry = {};
    Credential credential = {};             // in place of a key in the connection string
    std::chrono::seconds token_life{3600};  // of the tokens that are made with a key
    std::string tls_ca_pem = {};  // whom to trust, as PEM; empty: those whom the system trusts
    bool tls_verify = true;       // false: anybody; for tests
};

struct EventHubProperties {
    std::string name = {};
    Timestamp created_time = {};
    std::uint32_t partitions = 0;
    std::string identity = {};  // of the hub's data folder; empty: not one of ours
};

namespace client {
class Runtime;
struct Access;
}  // namespace client

// Errors of all that goes through a client: `not_allowed` for credentials that are refused or lack
// a right, `not_found` for an event hub, group or partition that is not there, `unavailable`,
// `timed_out` and `overloaded` once the retries are used up, `cancelled` when it is closed.
class Client {
public:
    // Reads the options and connects to nothing yet. `invalid_argument` names what is malformed.
    static Result<std::unique_ptr<Client>> open(const ClientOptions& options);
    static Result<std::unique_ptr<Client>> open(std::string connection) {
        return open(ClientOptions{.connection = std::move(connection)});
    }
    // Says good-bye to the hub. What used the client answers `cancelled` from now on.
    ~Client();
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    const std::string& event_hub() const;
    Result<EventHubProperties> properties(const CallOptions& call = {});
    // `bytes`, `readers` and `problems` are not known from afar.
    Result<PartitionInfo> properties(std::uint32_t partition, const CallOptions& call = {});

private:
    friend struct client::Access;
    explicit Client(std::shared_ptr<client::Runtime> runtime);
    const std::shared_ptr<client::Runtime> runtime_;  // shared with producers and readers
};

}  // namespace evenkeel
