#include "server/config.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/text.h"
#include "door/auth/keys.h"
#include "eventhubs/names.h"
#include "server/toml_section.h"

namespace evenkeel::server {
namespace {

constexpr std::uint64_t config_bytes_max = std::uint64_t{1} << 20;
constexpr std::uint64_t key_file_bytes_max = 4096;
constexpr std::uint64_t per_second_max = std::uint64_t{1} << 50;
constexpr std::uint64_t connections_max = 1'000'000;
constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

// As seen from the folder of the file that names it.
std::string resolved(const std::string& config_path, const std::string& path) {
    if (path.empty() || path.starts_with('/')) return path;
    const auto slash = config_path.rfind('/');
    return slash == std::string::npos ? path : config_path.substr(0, slash + 1) + path;
}

void take_listeners(TomlSection& section, std::string_view key, std::vector<io::Endpoint>& to) {
    if (!section.is_there(key)) return;
    std::vector<std::string> texts;
    section.texts(key, texts);
    to.clear();
    for (const auto& text : texts) {
        const auto endpoint = io::parse_endpoint(text);
        if (endpoint) {
            to.push_back(*endpoint);
        } else {
            section.problem(key, fmt::format("'{}' is not ADDRESS:PORT, such as \"127.0.0.1:5672\""
                                             " or \"[::]:5671\"; port 0 is any free port",
                                             shown(text)));
        }
    }
}

// Who listens between two machines sees tokens and events.
void check_plain(TomlSection& section, std::string_view key,
                 const std::vector<io::Endpoint>& endpoints, bool allowed) {
    for (const auto& endpoint : endpoints) {
        if (allowed || io::is_loopback(endpoint.host)) continue;
        section.problem(key,
                        fmt::format("{} is reachable from other machines, and it is not "
                                    "encrypted; use {}s there, or set listen.plain_for_others = "
                                    "true",
                                    io::to_string(endpoint), key));
    }
}

// What Host and Origin of a request may say.
void take_site(TomlSection& section, http::SiteOptions& site) {
    section.texts("names", site.names);
    for (const auto& name : site.names) {
        if (http::is_host_name(name)) continue;
        section.problem("names",
                        fmt::format("'{}' is not a host name such as \"hub.example.org\" or "
                                    "\"*.example.org\", without a port",
                                    shown(name)));
    }
    section.texts("origins", site.origins);
    for (const auto& origin : site.origins) {
        if (http::is_origin(origin)) continue;
        section.problem("origins", fmt::format("'{}' is not an origin such as "
                                               "\"https://console.example.org\"",
                                               shown(origin)));
    }
}

void take_listen(TomlSection& top, Config& config) {
    TomlSection section = top.table("listen");
    auto& server = config.server;
    take_listeners(section, "amqp", server.amqp);
    take_listeners(section, "amqps", server.amqps);
    take_listeners(section, "http", server.http);
    take_listeners(section, "https", server.https);
    bool plain_for_others = false;
    section.flag("plain_for_others", plain_for_others);
    check_plain(section, "amqp", server.amqp, plain_for_others);
    check_plain(section, "http", server.http, plain_for_others);
    if (server.amqp.empty() && server.amqps.empty() && server.http.empty() &&
        server.https.empty()) {
        section.problem("amqp", "no client could connect; set an address for amqp or amqps");
    }
    take_site(section, server.site);
    TomlSection tls = top.table("tls");
    tls.text("certificate_file", config.certificate_file);
    tls.text("key_file", config.key_file);
    const bool is_encrypted = !server.amqps.empty() || !server.https.empty();
    if (config.certificate_file.empty() != config.key_file.empty()) {
        tls.problem(config.certificate_file.empty() ? "certificate_file" : "key_file",
                    "is missing; certificate and key are needed together");
    } else if (is_encrypted && config.certificate_file.empty()) {
        tls.problem("certificate_file", "is missing; listen.amqps and listen.https need it");
    }
}

void take_deadline(TomlSection& section, std::string_view key, Duration& to) {
    auto time = std::chrono::duration_cast<std::chrono::milliseconds>(to);
    section.time(key, std::chrono::seconds(1), false, time);
    to = time;
}

void take_limits(TomlSection& top, Config& config) {
    auto& hub = config.server.hub;
    auto& door = config.server.door;
    TomlSection limits = top.table("limits");
    limits.number("connections_max", 1, connections_max, door.connections_max);
    limits.number("unauthenticated_max", 0, connections_max, door.unauthenticated_max);
    limits.number("connections_per_address_max", 0, connections_max,
                  door.connections_per_address_max);
    take_deadline(limits, "open_time_max", door.times.open);
    take_deadline(limits, "login_time_max", door.times.login);
    std::uint64_t event_bytes_max = hub.event_bytes_max;
    limits.bytes("event_bytes_max", 1024, 64 * mebibyte, event_bytes_max);
    hub.event_bytes_max = event_bytes_max;
    door.message_bytes_max = event_bytes_max;
    limits.number("event_hubs_max", 1, 100'000, hub.event_hubs_max);
    limits.number("partitions_max", 1, 2048, hub.partitions_max);
    limits.number("groups_max", 1, 100'000, hub.groups_max);
    TomlSection storage = top.table("storage");
    storage.bytes("segment_bytes_max", mebibyte, 4096 * mebibyte, hub.segment_bytes_max);
    storage.number("disk_threads", 1, 64, hub.disk_threads);
    storage.time("retention_interval", std::chrono::milliseconds(100), false,
                 hub.retention_interval);
    TomlSection throttle = top.table("throttle");
    throttle.number("events_per_second", 0, per_second_max, door.throttle.events_per_second);
    throttle.bytes("bytes_per_second", 0, per_second_max, door.throttle.bytes_per_second);
}

void take_quotas(TomlSection& top, Config& config) {
    auto& quotas = config.server.door.quotas;
    for (TomlSection& section : top.tables("quota")) {
        door::QuotaOptions quota;
        section.text("key", quota.key);
        section.text("hub", quota.hub);
        section.number("events_per_second", 0, per_second_max, quota.rate.events_per_second);
        section.bytes("bytes_per_second", 0, per_second_max, quota.rate.bytes_per_second);
        section.number("connections_max", 0, connections_max, quota.connections_max);
        const bool is_key = section.is_there("key");
        const bool is_hub = section.is_there("hub");
        const auto check = [&](std::string_view key, const Result<>& good) {
            if (!good.ok() && !section.is_wrong(key)) section.problem(key, good.error().detail);
        };
        if (is_key) check("key", door::check_rule_name(quota.key));
        if (is_hub) check("hub", eventhubs::check_event_hub_name(quota.hub));
        if (!is_key && !is_hub) {
            section.problem("key",
                            "is missing, and so is hub; a quota applies to a key, to an "
                            "event hub, or to a key on an event hub");
        }
        if (is_key && is_hub && quota.connections_max > 0) {
            section.problem("connections_max", "applies to a key or to an event hub, not to both");
        }
        quota.hub = eventhubs::folded(quota.hub);
        for (const auto& other : quotas) {
            if (other.key == quota.key && other.hub == quota.hub) {
                section.problem(is_key ? "key" : "hub", "already has a quota");
            }
        }
        quotas.push_back(std::move(quota));
    }
}

void take_log(TomlSection& top, Config& config) {
    TomlSection log = top.table("log");
    const int format = log.choice("format", {"auto", "text", "json"});
    if (format >= 0) config.log_format = static_cast<LogFormat>(format);
    const int level = log.choice("level", {"debug", "info", "warning", "error", "off"});
    if (level >= 0) config.log_level = static_cast<TraceLevel>(level);
}

void take_jwt(TomlSection& top, Config& config) {
    if (!top.is_there("jwt")) return;
    TomlSection section = top.table("jwt");
    JwtConfig jwt;
    section.texts("issuers", jwt.options.issuers);
    section.texts("audiences", jwt.options.audiences);
    section.text("key_set_file", jwt.key_set_file);
    section.text("key_set_url", jwt.key_set_url);
    section.text("ca_file", jwt.ca_file);
    section.time("refresh", std::chrono::milliseconds(100), false, jwt.refresh);
    section.time("pause", std::chrono::milliseconds(10), false, jwt.pause);
    if (!jwt.key_set_url.empty()) {
        const auto good = door::KeySet::check(jwt.key_set_url);
        if (!good.ok()) section.problem("key_set_url", good.error().detail);
        if (!jwt.key_set_file.empty()) {
            section.problem("key_set_url", "conflicts with key_set_file; keep one of them");
        }
    }
    std::chrono::milliseconds leeway = jwt.options.leeway;
    section.time("leeway", std::chrono::milliseconds(0), false, leeway);
    jwt.options.leeway = std::chrono::duration_cast<std::chrono::seconds>(leeway);
    std::vector<std::string> rights;
    section.texts("default_rights", rights);
    if (!rights.empty()) {
        const auto parsed = door::parse_rights(rights);
        if (parsed.ok()) jwt.options.default_rights = *parsed;
        if (!parsed.ok()) section.problem("default_rights", parsed.error().detail);
    }
    for (const auto& [key, is_missing] :
         {std::pair{"issuers", jwt.options.issuers.empty()},
          std::pair{"audiences", jwt.options.audiences.empty()},
          std::pair{"key_set_file", jwt.key_set_file.empty() && jwt.key_set_url.empty()}}) {
        if (!is_missing) continue;
        section.problem(key,
                        std::string_view(key) == "key_set_file"
                            ? "is missing, and so is key_set_url; without one of them no token "
                              "could be checked"
                            : "is missing; without it no token could be checked");
    }
    config.jwt = std::move(jwt);
}

// The key itself, or the file that holds it.
void take_key(TomlSection& section, const std::string& key, bool is_primary, door::Secret& secret,
              std::size_t rule, std::vector<KeyFile>& files) {
    std::string text;
    std::string file;
    section.secret(key, text);
    section.text(key + "_file", file);
    if (section.is_there(key) && section.is_there(key + "_file")) {
        section.problem(key, "conflicts with " + key + "_file; keep one of them");
    } else if (!file.empty()) {
        files.push_back({rule, is_primary, file});
    } else if (is_primary && text.empty()) {
        section.problem(key, "is missing; give it, or " + key + "_file");
    } else {
        const auto good = door::check_key_text(text);
        if (!good.ok()) section.problem(key, good.error().detail);
    }
    secret = door::Secret(std::move(text));
}

void take_rules(TomlSection& top, ParsedConfig& parsed) {
    auto& rules = parsed.config.server.rules;
    for (TomlSection& section : top.tables("rule")) {
        door::Rule rule;
        section.text("name", rule.name);
        if (const auto good = door::check_rule_name(rule.name); !good.ok()) {
            section.problem("name", good.error().detail);
        }
        section.text("hub", rule.hub);
        rule.hub = eventhubs::folded(rule.hub);
        std::vector<std::string> names;
        section.texts("rights", names);
        const auto rights = door::parse_rights(names);
        if (rights.ok()) rule.rights = *rights;
        if (!rights.ok()) section.problem("rights", rights.error().detail);
        take_key(section, "primary_key", true, rule.primary, rules.size(), parsed.key_files);
        take_key(section, "secondary_key", false, rule.secondary, rules.size(), parsed.key_files);
        for (const auto& other : rules) {
            if (other.name == rule.name && other.hub == rule.hub) {
                section.problem("name", "is already used by another rule");
            }
        }
        rules.push_back(std::move(rule));
    }
}

void take_hubs(TomlSection& top, Config& config) {
    auto& hubs = config.server.event_hubs;
    for (TomlSection& section : top.tables("hub")) {
        EventHubWish wish;
        section.text("name", wish.name);
        if (const auto good = eventhubs::check_event_hub_name(wish.name); !good.ok()) {
            section.problem("name", good.error().detail);
        }
        section.number("partitions", 1, config.server.hub.partitions_max, wish.options.partitions);
        section.time("retention", std::chrono::milliseconds(1), true, wish.options.retention);
        section.bytes("partition_bytes_max", 0, std::uint64_t{1} << 60,
                      wish.options.partition_bytes_max);
        section.texts("groups", wish.groups);
        for (const auto& group : wish.groups) {
            if (const auto good = eventhubs::check_group_name(group); !good.ok()) {
                section.problem("groups", good.error().detail);
            }
        }
        for (const auto& other : hubs) {
            if (eventhubs::folded(other.name) == eventhubs::folded(wish.name)) {
                section.problem("name", "is already used by another event hub");
            }
        }
        hubs.push_back(std::move(wish));
    }
}

// Groups whose stores are looked into. Their addresses may hold passwords.
void take_groups(TomlSection& top, const std::string& path, Config& config) {
    auto& groups = config.server.groups.groups;
    for (TomlSection& section : top.tables("group")) {
        dashboard::GroupWish wish;
        wish.group = eventhubs::default_group;
        section.text("hub", wish.hub);
        section.text("group", wish.group);
        section.secret("store", wish.store);
        section.text("namespace", wish.host);
        if (const auto good = eventhubs::check_event_hub_name(wish.hub); !good.ok()) {
            section.problem("hub", good.error().detail);
        }
        if (const auto good = eventhubs::check_group_name(wish.group); !good.ok()) {
            section.problem("group", good.error().detail);
        }
        constexpr std::string_view sqlite = "sqlite:";
        if (wish.store.empty() && !section.is_wrong("store")) {
            section.problem("store",
                            "is missing; where the group keeps its progress, such as "
                            "\"sqlite:progress.db\"");
        } else if (wish.store.starts_with(sqlite)) {
            wish.store = std::string(sqlite) + resolved(path, wish.store.substr(sqlite.size()));
        }
        for (const auto& other : groups) {
            if (eventhubs::folded(other.hub) == eventhubs::folded(wish.hub) &&
                eventhubs::folded(other.group) == eventhubs::folded(wish.group)) {
                section.problem("group", "is already watched");
            }
        }
        groups.push_back(std::move(wish));
    }
    if (groups.size() > dashboard::GroupsOptions::groups_max) {
        top.problem("group", fmt::format("at most {} groups are watched",
                                         dashboard::GroupsOptions::groups_max));
    }
}

Result<std::string> read_text(io::FileSystem& files, const std::string& path,
                              std::uint64_t bytes_max) {
    EK_TRY_ASSIGN(const auto bytes, io::read_file(files, path, bytes_max));
    return std::string(as_text(bytes));
}

Result<> read_keys(io::FileSystem& files, const std::vector<KeyFile>& key_files, Config& config) {
    for (const auto& file : key_files) {
        EK_TRY_ASSIGN(std::string text, read_text(files, file.path, key_file_bytes_max));
        while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
        if (const auto good = door::check_key_text(text); !good.ok() || text.empty()) {
            return Error{ErrorCode::invalid_argument,
                         file.path + ": " + (good.ok() ? "it is empty" : good.error().detail)};
        }
        door::Rule& rule = config.server.rules[file.rule];
        (file.is_primary ? rule.primary : rule.secondary) = door::Secret(std::move(text));
    }
    return {};
}

Result<> load_jwt(io::FileSystem& files, const JwtConfig& jwt, ServerOptions& server) {
    if (jwt.key_set_url.empty()) {
        EK_TRY_ASSIGN(server.door.jwt,
                      door::JwtVerifier::load(jwt.options, files, jwt.key_set_file));
        return {};
    }
    door::KeySetOptions options{
        .url = jwt.key_set_url, .refresh = jwt.refresh, .pause = jwt.pause, .jwt = jwt.options};
    if (!jwt.ca_file.empty()) {
        EK_TRY_ASSIGN(options.ca_pem, read_text(files, jwt.ca_file, config_bytes_max));
        // Whether it holds certificates is found out here, not when keys are fetched.
        EK_TRY_ASSIGN(const auto tried, io::TlsClientContext::make({options.ca_pem, true}));
    }
    server.key_set = std::move(options);
    return {};
}

}  // namespace

Result<ParsedConfig> parse_config(std::string_view text, const std::string& path) {
    EK_TRY_ASSIGN(const auto file, TomlFile::parse(text, path));
    ParsedConfig parsed;
    Config& config = parsed.config;
    config.server.http = {{"127.0.0.1", 8080}};
    config.server.make_first_rule = true;
    {
        TomlSection top(*file);
        top.text("data", config.server.hub.directory);
        if (config.server.hub.directory.empty() && !top.is_wrong("data")) {
            top.problem("data", "is missing: the data folder");
        }
        const int durability = top.choice("durability", {"disk", "os"});
        config.server.hub.sync_to_disk = durability != 1;
        top.text("ready_file", config.ready_file);
        take_listen(top, config);
        take_limits(top, config);
        take_quotas(top, config);
        take_log(top, config);
        take_jwt(top, config);
        take_rules(top, parsed);
        take_hubs(top, config);
        take_groups(top, path, config);
    }
    if (const std::string problems = file->problems(); !problems.empty()) {
        return Error{ErrorCode::invalid_argument, problems};
    }
    for (std::string* name : {&config.server.hub.directory, &config.certificate_file,
                              &config.key_file, &config.ready_file}) {
        *name = resolved(path, *name);
    }
    if (config.jwt) {
        config.jwt->key_set_file = resolved(path, config.jwt->key_set_file);
        config.jwt->ca_file = resolved(path, config.jwt->ca_file);
    }
    for (auto& key_file : parsed.key_files) key_file.path = resolved(path, key_file.path);
    return parsed;
}

Result<Config> load_config(io::FileSystem& files, const std::string& path) {
    EK_TRY_ASSIGN(const std::string text, read_text(files, path, config_bytes_max));
    EK_TRY_ASSIGN(auto parsed, parse_config(text, path));
    Config& config = parsed.config;
    EK_TRY(read_keys(files, parsed.key_files, config));
    if (!config.certificate_file.empty()) {
        EK_TRY_ASSIGN(config.server.identity,
                      io::read_identity(files, config.certificate_file, config.key_file));
        // Whether they belong together is found out here, not when the first client comes.
        EK_TRY_ASSIGN(const auto tried, io::TlsServerContext::make(*config.server.identity));
    }
    if (config.jwt) EK_TRY(load_jwt(files, *config.jwt, config.server));
    return std::move(config);
}

std::vector<std::string> needs_restart(const Config& before, const Config& after) {
    std::vector<std::string> names;
    const auto compare = [&](std::string_view name, const auto& a, const auto& b) {
        if (a != b) names.emplace_back(name);
    };
    const ServerOptions& a = before.server;
    const ServerOptions& b = after.server;
    compare("data", a.hub.directory, b.hub.directory);
    compare("durability", a.hub.sync_to_disk, b.hub.sync_to_disk);
    compare("ready_file", before.ready_file, after.ready_file);
    compare("listen.amqp", a.amqp, b.amqp);
    compare("listen.amqps", a.amqps, b.amqps);
    compare("listen.http", a.http, b.http);
    compare("listen.https", a.https, b.https);
    compare("limits.connections_max", a.door.connections_max, b.door.connections_max);
    compare("limits.unauthenticated_max", a.door.unauthenticated_max, b.door.unauthenticated_max);
    compare("limits.connections_per_address_max", a.door.connections_per_address_max,
            b.door.connections_per_address_max);
    compare("limits.open_time_max", a.door.times.open, b.door.times.open);
    compare("limits.login_time_max", a.door.times.login, b.door.times.login);
    compare("limits.event_bytes_max", a.hub.event_bytes_max, b.hub.event_bytes_max);
    compare("limits.event_hubs_max", a.hub.event_hubs_max, b.hub.event_hubs_max);
    compare("limits.partitions_max", a.hub.partitions_max, b.hub.partitions_max);
    compare("limits.groups_max", a.hub.groups_max, b.hub.groups_max);
    compare("storage.segment_bytes_max", a.hub.segment_bytes_max, b.hub.segment_bytes_max);
    compare("storage.disk_threads", a.hub.disk_threads, b.hub.disk_threads);
    compare("group", a.groups.groups, b.groups.groups);
    compare("storage.retention_interval", a.hub.retention_interval, b.hub.retention_interval);
    return names;
}

}  // namespace evenkeel::server
