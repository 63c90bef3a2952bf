#include "cli/remote/remote.h"

#include <cstdlib>

#include <fmt/core.h>

#include "cli/remote/dialer.h"
#include "cli/text/duration.h"
#include "cli/text/hub_reply.h"
#include "io/system/files.h"

namespace evenkeel::cli {
namespace {

constexpr std::size_t ca_bytes_max = std::size_t{4} << 20;

// The option's, else the first variable that is set.
std::string first_of(const std::string& option, std::initializer_list<const char*> variables) {
    if (!option.empty()) return option;
    for (const char* name : variables) {
        if (const char* value = std::getenv(name); value && *value) return value;
    }
    return {};
}

// What to try after an error of the hub; empty if nothing comes to mind.
std::string hint_for(const Error& error, const std::string& reach) {
    switch (error.code) {
        case ErrorCode::unavailable:
        case ErrorCode::timed_out:
            if (error.detail.find("certificate") != std::string::npos) {
                return "--ca FILE or EVENKEEL_CA names the certificates to trust";
            }
            // It runs, and says so.
            if (error.detail.find("being recovered") != std::string::npos) {
                return "the hub has just started: repeat the command in a moment";
            }
            return reach;
        case ErrorCode::not_allowed:
            if (is_wrong_key(error.detail)) {
                return "copy the connection string again: 'evenkeel conn' prints it where the hub "
                       "runs, 'evenkeel dev' at its start";
            }
            return "use a key with the right: 'evenkeel key ls' lists them, 'evenkeel conn --key "
                   "NAME' "
                   "prints a connection string";
        case ErrorCode::not_found: return "'evenkeel hub ls' lists event hubs";
        case ErrorCode::fenced:
            return "an event processor reads alone in its consumer group: read in another one, "
                   "--group NAME";
        case ErrorCode::invalid_argument:
        case ErrorCode::already_exists:
        case ErrorCode::unsupported:
        case ErrorCode::conflict:
        case ErrorCode::overloaded:
        case ErrorCode::cancelled:
        case ErrorCode::handler_failed:
        case ErrorCode::corrupt: break;
    }
    return {};
}

}  // namespace

Result<Remote> remote_of(const RemoteOptions& options) {
    Remote remote;
    remote.connection =
        first_of(options.connection, {"EVENKEEL_HUB", "EVENTHUB_CONNECTION_STRING"});
    remote.is_named = !remote.connection.empty();
    if (!remote.is_named) {
        remote.connection =
            "Endpoint=sb://localhost;SharedAccessKeyName=RootManageSharedAccessKey;"
            "SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true;";
    }
    EK_TRY_ASSIGN(remote.target, eventhubs::parse_connection_string(remote.connection));
    const std::string url = first_of(options.url, {"EVENKEEL_URL"});
    if (!url.empty()) {
        EK_TRY_ASSIGN(remote.admin, http::url_of(url));
    }
    if (const auto file = first_of(options.ca_file, {"EVENKEEL_CA"}); !file.empty()) {
        io::system::SystemFiles files;
        auto bytes = io::read_file(files, file, ca_bytes_max);
        if (!bytes.ok()) {
            return Error{ErrorCode::invalid_argument,
                         fmt::format("the certificates in '{}' cannot be read: {}", file,
                                     bytes.error().detail)};
        }
        remote.ca_pem = as_text(*bytes);
    }
    const auto timeout = parse_duration(options.timeout);
    if (!timeout) {
        return Error{ErrorCode::invalid_argument,
                     fmt::format("'{}' is not a time such as 500ms, 30s or 2m", options.timeout)};
    }
    remote.timeout = std::chrono::duration_cast<std::chrono::milliseconds>(*timeout);
    return remote;
}

ClientOptions client_options(const Remote& remote, std::string event_hub, std::string name,
                             Patience patience) {
    ClientOptions options;
    options.connection = remote.connection;
    options.event_hub = std::move(event_hub);
    options.name = std::move(name);
    options.tls_ca_pem = remote.ca_pem;
    if (patience == Patience::none) {
        options.retry.retries_max = 0;
        options.retry.try_timeout = remote.timeout;
    }
    return options;
}

Result<EventHubProperties> first_contact(const Remote& remote, const std::string& event_hub) {
    EK_TRY_ASSIGN(auto client,
                  Client::open(client_options(remote, event_hub, "evenkeel", Patience::none)));
    EK_TRY(Dialer("").reach(remote.target.endpoint, remote.timeout));
    auto properties = client->properties();
    // The connection string was good, so what is refused here is how we speak: TLS or not.
    if (!properties.ok() && properties.error().code == ErrorCode::invalid_argument) {
        return Error{ErrorCode::unavailable, properties.error().detail};
    }
    return properties;
}

ExitCode fail_options(const Error& error) {
    const std::string_view hint =
        error.detail.starts_with("connection string:")
            ? "'evenkeel conn' prints the connection string of a hub; amqp://HOST is one too"
        : error.detail.starts_with("address:") ? "--url http://localhost:8080"
                                               : "";
    return fail("the options that name the hub are not valid", error, hint);
}

ExitCode exit_code_remote(ErrorCode code) {
    return code == ErrorCode::unavailable ? ExitCode::cannot_reach : exit_code(code);
}

ExitCode fail_remote(std::string_view what, const Error& error, const Remote& remote,
                     std::string_view hint) {
    const std::string reach = fmt::format(
        "is a hub running at {}? 'evenkeel dev' starts one here, --hub or EVENKEEL_HUB names "
        "another, "
        "'evenkeel check' diagnoses the problem",
        io::to_string(remote.target.endpoint));
    fail(what, error, hint.empty() ? hint_for(error, reach) : std::string(hint));
    return exit_code_remote(error.code);
}

ExitCode fail_admin(std::string_view what, const Error& error, const Remote& remote,
                    std::string_view hint) {
    if (!remote.admin) return fail_remote(what, error, remote, hint);
    const std::string reach = fmt::format(
        "is the hub's admin interface at {}? --url or EVENKEEL_URL names another address, "
        "'evenkeel check' diagnoses the problem",
        http::to_string(*remote.admin));
    fail(what, error, hint.empty() ? hint_for(error, reach) : std::string(hint));
    return exit_code_remote(error.code);
}

}  // namespace evenkeel::cli
