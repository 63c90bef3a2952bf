// Which hub a command talks to, and how it gets there: from its options, else from the environment,
// else the hub of `evenkeel dev` on this machine.
//
//   EVENKEEL_HUB, EVENTHUB_CONNECTION_STRING   the connection string
//   EVENKEEL_URL                               the address of the admin interface
//   EVENKEEL_CA                                a file with the certificates to trust, as PEM
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/exit_code.h"
#include "eventhubs/connection_string.h"
#include "http/client.h"
#include <evenkeel/client.h>

namespace evenkeel::cli {

struct RemoteOptions {
    std::string connection;
    std::string url;
    std::string ca_file;
    std::string timeout = "5s";  // of a connection, and of an answer
};

struct Remote {
    std::string connection;  // holds a secret
    eventhubs::Target target;
    bool is_named = false;  // by an option or the environment; else it is that of `evenkeel dev`
    // As it was given; else the hub says where it is: AdminClient::url().
    std::optional<http::Url> admin;
    std::string ca_pem;
    std::chrono::milliseconds timeout{5000};
};

// `invalid_argument` names what is malformed, never with a key in it.
Result<Remote> remote_of(const RemoteOptions& options);

enum class Patience : unsigned char {
    none,   // a failure is reported immediately: the hub is not running, or is the wrong server
    usual,  // lost connections come back, as in any program
};
ClientOptions client_options(const Remote& remote, std::string event_hub, std::string name,
                             Patience patience);

// Checks once, before work begins, that the hub runs, accepts the key and has the event hub. So a
// wrong name or a hub that is not running is reported within the timeout, not after all retries.
Result<EventHubProperties> first_contact(const Remote& remote, const std::string& event_hub);

// As fail(), for what another machine did or did not do: out of reach is an exit code of its own,
// and the hint fits the error. Empty `hint`: the usual one.
ExitCode fail_remote(std::string_view what, const Error& error, const Remote& remote,
                     std::string_view hint = {});
// The same for what was asked of the admin interface.
ExitCode fail_admin(std::string_view what, const Error& error, const Remote& remote,
                    std::string_view hint = {});
// For what remote_of() refused.
ExitCode fail_options(const Error& error);
ExitCode exit_code_remote(ErrorCode code);

}  // namespace evenkeel::cli
