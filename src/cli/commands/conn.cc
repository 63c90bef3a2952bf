#include "cli/commands/conn.h"

#include <algorithm>

#include <boost/json.hpp>
#include <fmt/core.h>

#include "cli/remote/admin_client.h"
#include "cli/remote/dialer.h"
#include "cli/text/standard_output.h"
#include "door/auth/keys.h"
#include "io/system/files.h"
#include "server/config.h"

namespace evenkeel::cli {
namespace {

// The named rule of the event hub, else of the whole namespace.
Result<KeyInfo> find_key(const Remote& remote, const std::string& event_hub,
                         const std::string& name) {
    AdminClient admin(remote);
    if (!event_hub.empty()) {
        auto key = admin.key(event_hub, name);
        if (key.ok() || key.error().code != ErrorCode::not_found) return key;
    }
    return admin.key("", name);
}

// The connection string of the server with that configuration, with a key that it reads from the
// data folder: the one that is named, else the first of the whole namespace with all rights.
Result<std::string> connection_of_server(const ConnCommand& options) {
    io::system::SystemFiles files;
    EK_TRY_ASSIGN(const auto config, server::load_config(files, options.config));
    const server::ServerOptions& wanted = config.server;
    EK_TRY_ASSIGN(const auto stored, door::Keys::load(files, wanted.hub.directory));
    std::vector<door::Rule> rules = stored.rules();
    rules.insert(rules.end(), wanted.rules.begin(), wanted.rules.end());
    const auto rule = std::ranges::find_if(rules, [&](const door::Rule& one) {
        return options.key.empty() ? one.rights.manage && one.hub.empty() : one.name == options.key;
    });
    if (rule == rules.end()) {
        return Error{ErrorCode::not_found,
                     options.key.empty()
                         ? fmt::format("neither '{}' nor the data folder '{}' has a key with all "
                                       "rights; the first start of 'evenkeel serve' creates one",
                                       options.config, wanted.hub.directory)
                         : fmt::format("there is no key '{}'", options.key)};
    }
    const bool tls = wanted.amqp.empty();
    const auto& endpoints = tls ? wanted.amqps : wanted.amqp;
    if (endpoints.empty() || endpoints.front().port == 0) {
        return Error{ErrorCode::unsupported,
                     fmt::format("'{}' has no AMQP address with a fixed port", options.config)};
    }
    Remote remote;
    remote.target.endpoint = endpoints.front();
    remote.target.tls = tls;
    std::string& host = remote.target.endpoint.host;
    if (io::is_loopback(host) || host == "0.0.0.0" || host == "::") host = "localhost";
    return connection_text(remote, {rule->name, rule->primary, {}}, rule->hub);
}

ExitCode test_it(const ConnCommand& options, const std::string& connection,
                 const std::string& event_hub) {
    RemoteOptions again = options.remote;
    again.connection = connection;
    const auto remote = remote_of(again);
    if (!remote.ok()) return fail("the connection string is not valid", remote.error());
    const std::string where = io::to_string(remote->target.endpoint);
    if (event_hub.empty()) {
        const auto reached = Dialer("").reach(remote->target.endpoint, remote->timeout);
        if (!reached.ok()) return fail_remote("cannot reach the hub", reached.error(), *remote);
        fmt::print(stderr, "{} accepts connections; name an event hub to test the key too\n",
                   where);
        return ExitCode::done;
    }
    const auto contact = first_contact(*remote, event_hub);
    if (!contact.ok()) {
        return fail_remote(
            fmt::format("cannot use event hub '{}' with this connection string", event_hub),
            contact.error(), *remote);
    }
    fmt::print(stderr, "it works: event hub '{}' at {} has {}\n", contact->name, where,
               plural(contact->partitions, "partition"));
    return ExitCode::done;
}

}  // namespace

std::string connection_text(const Remote& remote, const Credentials& credentials,
                            const std::string& event_hub, Way way) {
    const eventhubs::Target& target = remote.target;
    const bool websocket = way == Way::websocket;
    // What comes by WebSocket is at the HTTP port.
    const io::Endpoint endpoint =
        websocket && !target.websocket && remote.admin ? remote.admin->endpoint : target.endpoint;
    const bool tls =
        websocket && !target.websocket && remote.admin ? remote.admin->tls : target.tls;
    const std::uint16_t usual = websocket ? (tls ? 443 : 80) : (tls ? 5671 : 5672);
    const std::string host =
        endpoint.host.find(':') == std::string::npos ? endpoint.host : "[" + endpoint.host + "]";
    std::string text = endpoint.port == usual
                           ? fmt::format("Endpoint=sb://{};", host)
                           : fmt::format("Endpoint=sb://{}:{};", host, endpoint.port);
    if (!credentials.token.empty()) {
        text += "SharedAccessSignature=" + credentials.token.reveal() + ";";
    } else if (!credentials.key_name.empty()) {
        text += fmt::format("SharedAccessKeyName={};SharedAccessKey={};", credentials.key_name,
                            credentials.key.reveal());
    }
    if (!event_hub.empty()) text += "EntityPath=" + event_hub + ";";
    if (websocket) text += "TransportType=AmqpWebSockets;";
    if (!tls) text += "UseDevelopmentEmulator=true;";
    return text;
}

std::string shell_quoted(std::string_view text) {
    std::string quoted = "'";
    for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

ExitCode conn(const ConnCommand& options) {
    RemoteOptions where = options.remote;
    if (!options.config.empty()) {
        auto connection = connection_of_server(options);
        if (!connection.ok()) {
            const bool missing = connection.error().code == ErrorCode::not_found;
            return fail("cannot get a key of the server", connection.error(),
                        missing ? "--config names the file that 'evenkeel serve' was started with"
                                : "run it as the user of the server, or as root");
        }
        where.connection = std::move(*connection);
    }
    auto remote = remote_of(where);
    if (!remote.ok()) return fail_options(remote.error());
    const Way way = options.way == "ws" ? Way::websocket : Way::amqp;
    if (way == Way::websocket || options.output == Output::json || options.as_environment) {
        const auto url = AdminClient(*remote).url();
        if (url.ok()) {
            remote->admin = *url;
        } else if (way == Way::websocket) {
            return fail_admin("cannot find the hub's WebSocket address", url.error(), *remote);
        }
    }
    const std::string event_hub =
        options.event_hub.empty() ? remote->target.event_hub : options.event_hub;
    Credentials credentials{remote->target.key_name, remote->target.key, remote->target.token};
    if (!options.key.empty() && options.config.empty()) {
        const auto key = find_key(*remote, event_hub, options.key);
        if (!key.ok()) {
            return fail_admin(
                fmt::format("cannot get key '{}'", options.key), key.error(), *remote,
                key.error().code == ErrorCode::not_found ? "'evenkeel key ls' lists the keys" : "");
        }
        credentials = {key->name, key->primary, {}};
    }
    const std::string text = connection_text(*remote, credentials, event_hub, way);
    if (options.output == Output::json) {
        boost::json::object object{{"connection_string", text},
                                   {"event_hub", nullptr},
                                   {"key_name", credentials.key_name},
                                   {"admin_url", nullptr}};
        if (remote->admin) object["admin_url"] = http::to_string(*remote->admin);
        if (!event_hub.empty()) object["event_hub"] = event_hub;
        fmt::print("{}", indented(object));
    } else if (options.as_environment) {
        fmt::print("export EVENKEEL_HUB={}\n", shell_quoted(text));
        fmt::print("export EVENTHUB_CONNECTION_STRING={}\n", shell_quoted(text));
        if (remote->admin) {
            fmt::print("export EVENKEEL_URL={}\n", shell_quoted(http::to_string(*remote->admin)));
        }
    } else {
        fmt::print("{}\n", text);
    }
    (void)flush_output();
    return options.test ? test_it(options, text, event_hub) : ExitCode::done;
}

}  // namespace evenkeel::cli
