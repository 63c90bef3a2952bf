#include "door/admin/admin.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <boost/json.hpp>

#include "base/percent.h"
#include "base/text.h"
#include "door/admin/call.h"
#include "eventhubs/names.h"

namespace evenkeel::door {

namespace {

namespace json = boost::json;
using http::error_response;
using http::Response;
using Action = AdminRoute::Action;

constexpr AdminRoute route_table[] = {
    {"GET", "/health", Access::open, Action::health},
    {"GET", "/metrics", Access::metrics, Action::metrics},
    {"GET", "/api/v1/hubs", Access::read, Action::list_hubs},
    {"POST", "/api/v1/hubs", Access::manage_all, Action::create_hub},
    {"GET", "/api/v1/hubs/{hub}", Access::read, Action::show_hub},
    {"PATCH", "/api/v1/hubs/{hub}", Access::manage, Action::alter_hub},
    {"DELETE", "/api/v1/hubs/{hub}", Access::manage, Action::remove_hub},
    {"POST", "/api/v1/hubs/{hub}/purge", Access::manage, Action::purge_hub},
    {"GET", "/api/v1/hubs/{hub}/groups", Access::read, Action::list_groups},
    {"POST", "/api/v1/hubs/{hub}/groups", Access::manage, Action::create_group},
    {"GET", "/api/v1/hubs/{hub}/groups/{group}", Access::read, Action::show_group},
    {"DELETE", "/api/v1/hubs/{hub}/groups/{group}", Access::manage, Action::remove_group},
    {"GET", "/api/v1/hubs/{hub}/partitions", Access::read, Action::list_partitions},
    {"GET", "/api/v1/keys", Access::manage_all, Action::list_keys},
    {"POST", "/api/v1/keys", Access::manage_all, Action::create_key},
    {"GET", "/api/v1/keys/{key}", Access::manage_all, Action::show_key},
    {"DELETE", "/api/v1/keys/{key}", Access::manage_all, Action::remove_key},
    {"POST", "/api/v1/keys/{key}/rotate", Access::manage_all, Action::rotate_key},
    {"GET", "/api/v1/hubs/{hub}/keys", Access::manage, Action::list_keys},
    {"POST", "/api/v1/hubs/{hub}/keys", Access::manage, Action::create_key},
    {"GET", "/api/v1/hubs/{hub}/keys/{key}", Access::manage, Action::show_key},
    {"DELETE", "/api/v1/hubs/{hub}/keys/{key}", Access::manage, Action::remove_key},
    {"POST", "/api/v1/hubs/{hub}/keys/{key}/rotate", Access::manage, Action::rotate_key},
};

constexpr std::string_view bearer_word = "Bearer ";

json::string_view text(std::string_view view) {
    return {view.data(), view.size()};
}

std::vector<std::string_view> parts_of(std::string_view path) {
    std::vector<std::string_view> parts;
    while (!path.empty()) {
        path.remove_prefix(1);  // the slash
        const std::size_t end = std::min(path.find('/'), path.size());
        parts.push_back(path.substr(0, end));
        path.remove_prefix(end);
    }
    return parts;
}

// "hub" of "hub:5300", "::1" of "[::1]:5300"
std::string host_of(const std::string& field) {
    if (field.starts_with('['))
        return field.substr(1, std::max<std::size_t>(field.find(']'), 1) - 1);
    return field.substr(0, field.find(':'));
}

// For audit lines; empty for what leaves none.
std::string_view name_of(Action action) {
    switch (action) {
        case Action::create_hub: return "create-hub";
        case Action::alter_hub: return "change-hub";
        case Action::remove_hub: return "remove-hub";
        case Action::purge_hub: return "purge-hub";
        case Action::create_group: return "create-group";
        case Action::remove_group: return "remove-group";
        case Action::show_key: return "show-key";
        case Action::create_key: return "create-key";
        case Action::remove_key: return "remove-key";
        case Action::rotate_key: return "rotate-key";
        case Action::health:
        case Action::metrics:
        case Action::list_hubs:
        case Action::show_hub:
        case Action::list_groups:
        case Action::show_group:
        case Action::list_partitions:
        case Action::list_keys: break;
    }
    return {};
}

bool is_json(const http::Request& request) {
    const std::string type = request.field("Content-Type");
    std::string_view name = std::string_view(type).substr(0, type.find(';'));
    while (name.ends_with(' ')) name.remove_suffix(1);
    return equal_without_case(name, "application/json");
}

constexpr std::int64_t number_max = std::numeric_limits<std::int64_t>::max();
// Such that times do not overflow: 10,000 years.
constexpr std::int64_t retention_ms_max = std::int64_t{10'000} * 365 * 24 * 3600 * 1000;

Result<EventHubChange> take_change(Members& members) {
    EventHubChange change;
    EK_TRY_ASSIGN(const auto partitions,
                  members.take_number("partitions", std::numeric_limits<std::int32_t>::max()));
    EK_TRY_ASSIGN(const auto retention, members.take_number("retention_ms", retention_ms_max));
    EK_TRY_ASSIGN(const auto bytes, members.take_number("partition_bytes_max", number_max));
    EK_TRY(members.check_empty());
    if (partitions) change.partitions = static_cast<std::uint32_t>(*partitions);
    if (retention) change.retention = std::chrono::milliseconds(*retention);
    if (bytes) change.partition_bytes_max = static_cast<std::uint64_t>(*bytes);
    return change;
}

std::vector<std::string> groups_of(const hub::EventHubRecord& record) {
    std::vector<std::string> groups = record.groups;
    groups.emplace_back(eventhubs::default_group);
    std::ranges::sort(groups);
    return groups;
}

json::object hub_json(const hub::EventHubRecord& record) {
    json::array groups;
    for (const auto& group : groups_of(record)) groups.emplace_back(text(group));
    return {{"name", text(record.name)},
            {"partitions", record.partitions},
            {"retention_ms", record.retention.count()},
            {"partition_bytes_max", record.partition_bytes_max},
            {"created_at", text(to_string(record.created))},
            {"groups", std::move(groups)}};
}

// Calls `done` when the last one is done, with the first error if there was one.
void purge_all(const std::vector<commitlog::Log*>& logs, SequenceNumber first_kept,
               Callback<void(Result<>)> done) {
    // Each log answers when it likes, so what they have in common belongs to the last of them.
    struct Progress {
        Callback<void(Result<>)> done;
        std::size_t left = 0;
        Result<> result = {};
    };
    auto progress = std::make_shared<Progress>();
    progress->done = std::move(done);
    progress->left = logs.size();
    for (commitlog::Log* log : logs) {
        log->purge(first_kept, [progress](Result<> purged) {
            if (!purged.ok() && progress->result.ok()) progress->result = std::move(purged);
            if (--progress->left == 0) progress->done(std::move(progress->result));
        });
    }
}

// The name is decoded already, and is its own path.
Entity entity_of(const std::string& name) {
    return {eventhubs::folded(name), eventhubs::folded(name)};
}

bool may_read(const Claim& claim, const Entity& entity, WallTime now) {
    const std::vector<Claim> claims{claim};
    return is_allowed(claims, Right::listen, entity, now) ||
           is_allowed(claims, Right::send, entity, now) ||
           is_allowed(claims, Right::manage, entity, now);
}

}  // namespace

int status_of(ErrorCode code) {
    switch (code) {
        case ErrorCode::invalid_argument: return 400;
        case ErrorCode::not_allowed: return 403;
        case ErrorCode::not_found: return 404;
        case ErrorCode::already_exists:
        case ErrorCode::conflict:
        case ErrorCode::fenced: return 409;
        case ErrorCode::unsupported: return 501;
        case ErrorCode::overloaded:
        case ErrorCode::unavailable:
        case ErrorCode::cancelled: return 503;
        case ErrorCode::timed_out: return 504;
        case ErrorCode::handler_failed:
        case ErrorCode::corrupt: break;
    }
    return 500;
}

Admin::Admin(io::Loop& loop, io::Executor& reads, hub::Namespace& hubs, KeyRing& keys,
             const Metrics& metrics, AdminOptions options)
    : loop_(loop),
      reads_(reads),
      hubs_(hubs),
      keys_(keys),
      metrics_(metrics),
      options_(std::move(options)) {
    watch_traffic();
}

std::span<const AdminRoute> Admin::routes() {
    return route_table;
}

void Admin::handle(const http::Request& request, Answer answer) {
    loop_.check_here();
    const auto parts = parts_of(request.path);
    std::string methods;
    for (const auto& route : route_table) {
        const auto wanted = parts_of(route.path);
        Call call{request, {}, {}, {}, {}};
        bool fits = parts.size() == wanted.size();
        for (std::size_t i = 0; fits && i < parts.size(); ++i) {
            const auto part = percent_decoded_strictly(parts[i]);
            if (!part) return answer(bad_request("the path has a bad escape"));
            if (wanted[i] == "{hub}") {
                call.hub = *part;
                fits = !part->empty();
            } else if (wanted[i] == "{group}") {
                call.group = *part;
                fits = !part->empty();
            } else if (wanted[i] == "{key}") {
                call.key = *part;
                fits = !part->empty();
            } else {
                fits = *part == wanted[i];
            }
        }
        if (!fits) continue;
        if (route.method != request.method) {
            methods += (methods.empty() ? "" : ", ") + std::string(route.method);
            continue;
        }
        auto refusal = refuse(route, call);
        if (route.method != "GET" || route.action == Action::show_key) {
            answer = audited(route, call, std::move(answer));
        }
        if (refusal) return answer(std::move(*refusal));
        return act(route.action, call, std::move(answer));
    }
    if (methods.empty()) return answer(error_response(404, "not_found", "there is nothing here"));
    auto response = error_response(405, "unsupported", "only " + methods + " can be done here");
    response.fields.push_back({"Allow", methods});
    answer(std::move(response));
}

std::optional<Response> Admin::refuse(const AdminRoute& route, Call& call) const {
    if (route.access == Access::open) return std::nullopt;
    if (route.access == Access::metrics &&
        (options_.metrics_open || io::is_loopback(call.request.peer.host))) {
        return std::nullopt;
    }
    const WallTime now = loop_.clock().wall();
    auto claim = claim_of(call.request, now);
    if (!claim.ok()) {
        auto response = error_response(401, "unauthorized", claim.error().detail);
        response.fields.push_back({"WWW-Authenticate", "SharedAccessSignature"});
        return response;
    }
    call.claim = std::move(*claim);
    // A list shows what the token reaches; anything at all is enough to ask for it.
    const bool anything = call.hub.empty() && route.access != Access::manage_all;
    const Entity entity =
        anything ? Entity{call.claim->hub, call.claim->path} : entity_of(call.hub);
    const bool reads = route.access == Access::read || route.access == Access::metrics;
    if (reads ? !may_read(*call.claim, entity, now)
              : !is_allowed({*call.claim}, Right::manage, entity, now)) {
        return error_response(403, "forbidden", "the token does not allow this");
    }
    if (route.method == "GET") return std::nullopt;
    if (route.method != "DELETE" && !is_json(call.request)) {
        return error_response(415, "unsupported", "the body must be application/json");
    }
    return std::nullopt;
}

Result<Claim> Admin::claim_of(const http::Request& request, WallTime now) const {
    const std::string token = request.field("Authorization");
    const Claim everything{"", {true, true, true}, now + std::chrono::hours(1)};
    if (token.empty()) {
        if (options_.trust_this_host && io::is_loopback(request.peer.host) &&
            io::is_loopback(host_of(request.field("Host")))) {
            return everything;
        }
        return Error{ErrorCode::invalid_argument, "a token is needed"};
    }
    if (!token.starts_with(bearer_word)) {
        return keys_.access().check_sas(token, request.field("Host"), now);
    }
    if (options_.accept_any_token) return everything;
    if (options_.jwt) return options_.jwt->check(token.substr(bearer_word.size()), now);
    return Error{ErrorCode::invalid_argument,
                 "Bearer tokens are not accepted here; use a SharedAccessSignature"};
}

void Admin::act(Action action, Call& call, Answer answer) {
    const auto no_content = [] { return Response{.status = 204}; };
    switch (action) {
        case Action::health: return answer(health());
        case Action::metrics:
            return answer({.body = metrics_text(),
                           .content_type = "text/plain; version=0.0.4; charset=utf-8"});
        case Action::list_hubs: return answer(list_hubs(call));
        case Action::create_hub: return create_hub(call, std::move(answer));
        case Action::show_hub: return answer(show_hub(call.hub, 200));
        case Action::alter_hub: return alter_hub(call, std::move(answer));
        case Action::remove_hub: return remove_hub(call, std::move(answer));
        case Action::purge_hub: return purge(call, std::move(answer));
        case Action::list_groups: return answer(list_groups(call));
        case Action::create_group: return create_group(call, std::move(answer));
        case Action::show_group: return answer(show_group(call));
        case Action::remove_group:
            return hubs_.remove_group(call.hub, call.group, then(std::move(answer), no_content));
        case Action::list_partitions: return list_partitions(call, std::move(answer));
        case Action::list_keys: return answer(list_keys(call));
        case Action::show_key: return answer(show_key(call));
        case Action::create_key: return create_key(call, std::move(answer));
        case Action::rotate_key: return rotate_key(call, std::move(answer));
        case Action::remove_key:
            return keys_.remove(call.key, call.hub, then(std::move(answer), no_content));
    }
}

std::string Admin::metrics_text() const {
    std::string all = metrics_.to_text();
    if (options_.activity) {
        all += options_.activity->hubs_text(
            [this](const std::string& name) { return hubs_.find(name).ok(); });
    }
    return all;
}

Admin::Answer Admin::audited(const AdminRoute& route, const Call& call, Answer answer) const {
    AuditEntry entry{
        call.claim ? who_of(*call.claim) : who_says(call.request.field("Authorization")),
        io::to_string(call.request.peer), std::string(name_of(route.action)), call.hub, ""};
    for (const std::string& part : {call.group, call.key}) {
        if (!part.empty()) entry.what += (entry.what.empty() ? "" : "/") + part;
    }
    if (route.action == Action::create_hub || route.action == Action::create_group ||
        route.action == Action::create_key) {
        auto members = Members::parse(call.request.body);
        const auto name = members.ok() ? members->take_text("name")
                                       : Result<std::optional<std::string>>(members.error());
        if (name.ok() && *name) entry.what += (entry.what.empty() ? "" : "/") + **name;
    }
    entry.what = shown(entry.what);
    return [entry = std::move(entry), answer = std::move(answer)](Response response) mutable {
        entry.result = response.status < 300 ? "ok" : "refused:" + std::to_string(response.status);
        audit(entry);
        answer(std::move(response));
    };
}

Response Admin::health() const {
    // The words are those of the official emulator, which tools wait for.
    if (problem_) {
        return json_response({{"status", "unhealthy"}, {"message", text(*problem_)}}, 503);
    }
    if (const auto progress = hubs_.recovery(); !progress.done()) {
        const std::string message = std::to_string(progress.recovered) + " of " +
                                    std::to_string(progress.partitions) +
                                    " partitions are recovered.";
        return json_response({{"status", "recovering"},
                              {"message", message},
                              {"partitions", progress.partitions},
                              {"recovered", progress.recovered}},
                             503);
    }
    return json_response({{"status", "healthy"}, {"message", "Service is healthy."}});
}

Response Admin::list_hubs(const Call& call) const {
    const WallTime now = loop_.clock().wall();
    json::array hubs;
    for (const auto* record : hubs_.list()) {
        if (may_read(*call.claim, entity_of(record->name), now)) {
            hubs.emplace_back(hub_json(*record));
        }
    }
    return json_response({{"hubs", std::move(hubs)}});
}

Response Admin::show_hub(const std::string& name, int status) const {
    const auto found = hubs_.find(name);
    if (!found.ok()) return error_of(found.error());
    return json_response(hub_json((*found)->record()), status);
}

Response Admin::list_groups(const Call& call) const {
    const auto found = hubs_.find(call.hub);
    if (!found.ok()) return error_of(found.error());
    json::array groups;
    for (const auto& group : groups_of((*found)->record())) {
        groups.emplace_back(json::object{{"name", text(group)}});
    }
    return json_response({{"groups", std::move(groups)}});
}

Response Admin::show_group(const Call& call) const {
    const auto found = hubs_.find(call.hub);
    if (!found.ok()) return error_of(found.error());
    for (const auto& group : groups_of((*found)->record())) {
        if (eventhubs::folded(group) == eventhubs::folded(call.group)) {
            return json_response({{"name", text(group)}});
        }
    }
    return error_response(404, "not_found",
                          "consumer group '" + shown(call.group) + "' does not exist");
}

void Admin::create_hub(const Call& call, Answer answer) {
    auto members = Members::parse(call.request.body);
    if (!members.ok()) return answer(error_of(members.error()));
    const auto name = members->take_text("name");
    if (!name.ok()) return answer(error_of(name.error()));
    if (!*name) return answer(bad_request("name is missing"));
    const auto wanted = take_change(*members);
    if (!wanted.ok()) return answer(error_of(wanted.error()));
    EventHubOptions options;
    options.partitions = wanted->partitions.value_or(options.partitions);
    options.retention = wanted->retention.value_or(options.retention);
    options.partition_bytes_max = wanted->partition_bytes_max.value_or(options.partition_bytes_max);
    hubs_.create(**name, options,
                 then(std::move(answer), [this, name = **name] { return show_hub(name, 201); }));
}

void Admin::alter_hub(const Call& call, Answer answer) {
    auto members = Members::parse(call.request.body);
    if (!members.ok()) return answer(error_of(members.error()));
    const auto change = take_change(*members);
    if (!change.ok()) return answer(error_of(change.error()));
    hubs_.alter(call.hub, *change,
                then(std::move(answer), [this, name = call.hub] { return show_hub(name, 200); }));
}

// Its keys go with it, so that another one of that name does not know them.
void Admin::remove_hub(const Call& call, Answer answer) {
    hubs_.remove(call.hub, lifetime_.guard([this, hub = call.hub, answer = std::move(answer)](
                                               const Result<>& removed) mutable {
        if (!removed.ok()) return answer(error_of(removed.error()));
        keys_.remove_hub(hub, then(std::move(answer), [] { return Response{.status = 204}; }));
    }));
}

void Admin::create_group(const Call& call, Answer answer) {
    auto members = Members::parse(call.request.body);
    if (!members.ok()) return answer(error_of(members.error()));
    const auto name = members->take_text("name");
    if (!name.ok()) return answer(error_of(name.error()));
    if (!*name) return answer(bad_request("name is missing"));
    if (const auto rest = members->check_empty(); !rest.ok()) {
        return answer(error_of(rest.error()));
    }
    hubs_.create_group(call.hub, **name, then(std::move(answer), [group = **name] {
                           return json_response({{"name", text(group)}}, 201);
                       }));
}

// Of one partition or of all; up to a sequence number or everything.
void Admin::purge(const Call& call, Answer answer) {
    auto members = Members::parse(call.request.body);
    if (!members.ok()) return answer(error_of(members.error()));
    const auto partition =
        members->take_number("partition", std::numeric_limits<std::int32_t>::max());
    if (!partition.ok()) return answer(error_of(partition.error()));
    const auto before = members->take_number("before_sequence_number", number_max);
    if (!before.ok()) return answer(error_of(before.error()));
    if (const auto rest = members->check_empty(); !rest.ok()) {
        return answer(error_of(rest.error()));
    }
    const auto found = hubs_.find(call.hub);
    if (!found.ok()) return answer(error_of(found.error()));
    std::vector<commitlog::Log*> logs;
    for (std::uint32_t i = 0; i < (*found)->partition_count(); ++i) {
        if (*partition && **partition != i) continue;
        const auto one = (*found)->partition({i});
        const auto log = one.ok() ? (*one)->log() : Result<commitlog::Log*>(one.error());
        if (!log.ok()) return answer(error_of(log.error()));
        logs.push_back(*log);
    }
    if (logs.empty()) {
        return answer(error_response(404, "not_found", "there is no such partition"));
    }
    const SequenceNumber first_kept{before->value_or(number_max)};
    purge_all(logs, first_kept, then(std::move(answer), [] { return Response{.status = 204}; }));
}

Callback<void(Result<>)> Admin::then(Answer answer, Callback<Response()> success) const {
    return lifetime_.guard(
        [answer = std::move(answer), success = std::move(success)](const Result<>& result) mutable {
            answer(result.ok() ? success() : error_of(result.error()));
        });
}

}  // namespace evenkeel::door
