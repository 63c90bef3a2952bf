#include "cli/commands/key_command.h"

#include <boost/json.hpp>
#include <fmt/core.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/commands/conn.h"
#include "cli/remote/admin_client.h"
#include "cli/text/duration.h"
#include "eventhubs/sas.h"

namespace evenkeel::cli {
namespace {

namespace json = boost::json;

std::string rights_text(const std::vector<std::string>& rights) {
    std::string all;
    for (const auto& right : rights) all += (all.empty() ? "" : ", ") + right;
    return all;
}

json::object key_json(const KeyInfo& key) {
    json::array rights;
    for (const auto& right : key.rights) rights.emplace_back(right);
    json::object object{{"name", key.name},
                        {"event_hub", nullptr},
                        {"rights", std::move(rights)},
                        {"fixed", key.is_fixed}};
    if (!key.event_hub.empty()) object["event_hub"] = key.event_hub;
    return object;
}

std::string name_of(const KeyCommand& options) {
    return options.event_hub.empty()
               ? fmt::format("key '{}'", options.name)
               : fmt::format("key '{}' of event hub '{}'", options.name, options.event_hub);
}

// A key with its secrets, and what to give to programs.
void print_secrets(const KeyCommand& options, const Remote& remote, const KeyInfo& key) {
    const auto connection = [&](const Secret& secret) {
        return connection_text(remote, {key.name, secret, {}}, key.event_hub);
    };
    if (options.output == Output::json) {
        json::object object = key_json(key);
        object["primary_key"] = key.primary.reveal();
        object["secondary_key"] = key.secondary.reveal();
        object["primary_connection_string"] = connection(key.primary);
        object["secondary_connection_string"] = connection(key.secondary);
        fmt::print("{}", indented(object));
        return;
    }
    Listing listing({{"FIELD"}, {"VALUE"}});
    listing.add({std::string("name"), key.name});
    listing.add({std::string("event hub"), key.event_hub.empty() ? "(all)" : key.event_hub});
    listing.add({std::string("rights"), rights_text(key.rights)});
    listing.add({std::string("primary key"), key.primary.reveal()});
    listing.add({std::string("secondary key"), key.secondary.reveal()});
    listing.add({std::string("connection string"), connection(key.primary)});
    fmt::print("{}", listing.text(terminal_of(stdout)));
}

// When a token ends, in whole seconds, as it says it.
Result<WallTime> expiry_of(const KeyCommand& options) {
    const std::int64_t now = SystemClock().wall().milliseconds;
    std::int64_t end = 0;
    if (!options.expires.empty()) {
        const auto time = parse_time(options.expires);
        if (!time) {
            return Error{ErrorCode::invalid_argument,
                         fmt::format("'{}' is not a time such as 2026-03-02T09:14:00Z",
                                     printable(options.expires))};
        }
        end = *time;
    } else {
        const auto lifetime = parse_duration(options.lifetime);
        if (!lifetime) {
            return Error{ErrorCode::invalid_argument,
                         fmt::format("'{}' is not a time such as 30m, 1h or 7d, at most a year",
                                     printable(options.lifetime))};
        }
        end = now + std::chrono::duration_cast<std::chrono::milliseconds>(*lifetime).count();
    }
    if (end / 1000 <= now / 1000) {
        return Error{ErrorCode::invalid_argument, "the token would have expired already"};
    }
    return WallTime{end / 1000 * 1000};
}

ExitCode fail_key(const std::string& what, const Error& error, const Remote& remote) {
    return fail_admin(what, error, remote,
                      error.code == ErrorCode::not_found ? "'evenkeel key ls' lists the keys" : "");
}

}  // namespace

ExitCode key_ls(const KeyCommand& options) {
    const auto remote = remote_of(options.remote);
    if (!remote.ok()) return fail_options(remote.error());
    const auto keys = AdminClient(*remote).keys(options.event_hub);
    if (!keys.ok()) {
        return fail_admin("the keys cannot be listed", keys.error(), *remote,
                          keys.error().code == ErrorCode::not_allowed
                              ? "only a key with Manage may see them; --event-hub NAME lists those "
                                "of one event hub"
                              : "");
    }
    Listing listing({{"KEY"}, {"EVENT HUB"}, {"RIGHTS"}, {"FROM"}});
    json::array array;
    for (const auto& key : *keys) {
        listing.add({key.name, key.event_hub.empty() ? Cell("(all)", "") : Cell(key.event_hub),
                     rights_text(key.rights),
                     std::string(key.is_fixed ? "configuration" : "here")});
        array.push_back(key_json(key));
        if (options.output == Output::name) fmt::print("{}\n", printable(key.name));
    }
    if (options.output == Output::json) fmt::print("{}", indented(array));
    if (options.output == Output::table) fmt::print("{}", listing.text(terminal_of(stdout)));
    return ExitCode::done;
}

ExitCode key_show(const KeyCommand& options) {
    const auto remote = remote_of(options.remote);
    if (!remote.ok()) return fail_options(remote.error());
    const auto key = AdminClient(*remote).key(options.event_hub, options.name);
    if (!key.ok()) return fail_key(name_of(options) + " cannot be shown", key.error(), *remote);
    print_secrets(options, *remote, *key);
    return ExitCode::done;
}

ExitCode key_create(const KeyCommand& options) {
    const auto remote = remote_of(options.remote);
    if (!remote.ok()) return fail_options(remote.error());
    const auto key =
        AdminClient(*remote).create_key(options.event_hub, options.name, options.rights);
    if (!key.ok()) {
        const bool was_there = key.error().code == ErrorCode::already_exists;
        return fail_admin(
            name_of(options) + " was not created", key.error(), *remote,
            was_there ? "'evenkeel key show' shows it, 'key rotate' replaces a key" : "");
    }
    fmt::print(stderr, "created {}\n", name_of(options));
    print_secrets(options, *remote, *key);
    return ExitCode::done;
}

ExitCode key_rotate(const KeyCommand& options) {
    const auto remote = remote_of(options.remote);
    if (!remote.ok()) return fail_options(remote.error());
    const auto key =
        AdminClient(*remote).rotate_key(options.event_hub, options.name, options.which);
    if (!key.ok()) return fail_key(name_of(options) + " was not rotated", key.error(), *remote);
    fmt::print(stderr,
               "the {} key of {} was replaced; clients that use the old one are disconnected\n",
               options.which, name_of(options));
    print_secrets(options, *remote, *key);
    return ExitCode::done;
}

ExitCode key_token(const KeyCommand& options) {
    const auto remote = remote_of(options.remote);
    if (!remote.ok()) return fail("no token was made", remote.error());
    eventhubs::Target target = remote->target;
    if (!options.event_hub.empty()) target.event_hub = options.event_hub;
    if (target.key.empty()) {
        return fail("no token was made",
                    {ErrorCode::invalid_argument,
                     target.token.empty() ? "the connection string has no key"
                                          : "the connection string has a finished token, no key"},
                    "give one with SharedAccessKeyName and SharedAccessKey to --hub");
    }
    const auto expiry = expiry_of(options);
    if (!expiry.ok()) return wrong_usage(expiry.error().detail, "evenkeel key token --help");
    const std::string token =
        eventhubs::make_sas(target.audience(), target.key_name, target.key, *expiry);
    if (options.output == Output::json) {
        fmt::print("{}", indented(json::object{{"token", token},
                                               {"audience", target.audience()},
                                               {"key_name", target.key_name},
                                               {"expires_at", to_string(*expiry)}}));
    } else {
        fmt::print("{}\n", token);
    }
    return ExitCode::done;
}

ExitCode key_rm(const KeyCommand& options) {
    const auto remote = remote_of(options.remote);
    if (!remote.ok()) return fail_options(remote.error());
    AdminClient admin(*remote);
    const std::string what = name_of(options) + " was not removed";
    const auto key = admin.key(options.event_hub, options.name);
    if (!key.ok()) return fail_key(what, key.error(), *remote);
    const auto end =
        ask_first(options.danger,
                  fmt::format("This removes {} permanently and disconnects the clients that use it",
                              name_of(options)));
    if (end) return *end;
    const auto removed = admin.remove_key(options.event_hub, options.name);
    if (!removed.ok()) return fail_key(what, removed.error(), *remote);
    fmt::print(stderr, "removed {}\n", name_of(options));
    return ExitCode::done;
}

}  // namespace evenkeel::cli
