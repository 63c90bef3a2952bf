#include "door/admin/admin.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "base/percent.h"
#include "base/text.h"
#include "dashboard/page.h"
#include "door/admin/json_text.h"

namespace evenkeel::door {
namespace {

namespace json = boost::json;
using http::error_response;
using http::Response;
using Action = AdminRoute::Action;

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

// A text of the body; empty if there is none.
std::string text_of(Members& members, std::string_view key) {
    const auto text = members.take_text(key);
    return text.ok() ? text->value_or("") : "";
}

// "homes", "homes/billing/0/17", "homes/billing action=seek to=oldest partitions=0,3 preview".
constexpr std::size_t what_bytes_max = 1024;

std::string what_of(const AdminRoute& route, const AdminCall& call) {
    std::string what = call.hub;
    const auto add = [&](const std::string& part) {
        if (!part.empty()) what += (what.empty() ? "" : "/") + part;
    };
    for (const std::string& part : {call.group, call.key, call.partition, call.sequence}) add(part);
    const bool has_name = route.action == Action::create_hub ||
                          route.action == Action::create_group ||
                          route.action == Action::create_key;
    const bool has_action = route.action == Action::request || route.action == Action::demo ||
                            route.action == Action::resend_letter;
    // What a stranger sent is not looked into.
    if (!call.claim || !(has_name || has_action)) return printable(what, what_bytes_max);
    auto members = Members::parse(call.request.body);
    if (!members.ok()) return printable(what, what_bytes_max);
    if (has_name) add(text_of(*members, "name"));
    if (!has_action) return printable(what, what_bytes_max);
    for (const char* const key : {"action", "hub", "member", "to"}) {
        const std::string text = text_of(*members, key);
        if (!text.empty()) what += (what.empty() ? "" : " ") + std::string(key) + "=" + text;
    }
    const auto preview = members->take_flag("preview");
    if (preview.ok() && preview->value_or(false)) what += " preview";
    if (const auto partitions = members->take_numbers("partitions", 1'000'000);
        partitions.ok() && *partitions) {
        what += fmt::format(" partitions={}", fmt::join(**partitions, ","));
    }
    return printable(what, what_bytes_max);
}

// Leaves an audit line when the answer is known.
AdminAnswer audited(const AdminRoute& route, const AdminCall& call, AdminAnswer answer) {
    AuditEntry entry{
        call.claim ? who_of(*call.claim) : who_says(call.request.field("Authorization")),
        io::to_string(call.request.peer), std::string(name_of(route.action)), what_of(route, call),
        ""};
    return [entry = std::move(entry), answer = std::move(answer)](Response response) mutable {
        entry.result = response.status < 300 ? "ok" : "refused:" + std::to_string(response.status);
        audit(entry);
        answer(std::move(response));
    };
}

}  // namespace

Admin::Admin(io::Loop& loop, io::Executor& reads, hub::Namespace& hubs, KeyRing& keys,
             const Metrics& metrics, const AdminOptions& options)
    : loop_(loop),
      hubs_(hubs),
      metrics_(metrics),
      activity_(options.activity),
      gate_(loop, keys, options),
      intake_(loop, options.quotas, options.activity),
      hub_resource_(loop, hubs, keys),
      group_resource_(hubs),
      partition_resource_(loop, reads, hubs),
      key_resource_(hubs, keys),
      dashboard_resource_(loop, keys, options.dashboard),
      group_actions_(loop, reads, hubs, intake_, options.dashboard),
      event_resource_(loop, reads, hubs, intake_, options.event_filter),
      connection_resource_(hubs, options.connections) {}

void Admin::handle(const http::Request& request, AdminAnswer answer) {
    loop_.check_here();
    if (dashboard::is_page_path(request.path)) {
        return answer(dashboard::page_response(dashboard::page_files(), request));
    }
    const auto parts = parts_of(request.path);
    std::string methods;
    for (const auto& route : admin_routes()) {
        const auto wanted = parts_of(route.path);
        AdminCall call{request, {}, {}, {}, {}, {}, {}};
        bool fits = parts.size() == wanted.size();
        for (std::size_t i = 0; fits && i < parts.size(); ++i) {
            const auto part = percent_decoded_strictly(parts[i]);
            if (!part) return answer(bad_request("the path has a bad escape"));
            std::string* const to = wanted[i] == "{hub}"         ? &call.hub
                                    : wanted[i] == "{group}"     ? &call.group
                                    : wanted[i] == "{key}"       ? &call.key
                                    : wanted[i] == "{partition}" ? &call.partition
                                    : wanted[i] == "{sequence}"  ? &call.sequence
                                                                 : nullptr;
            fits = to ? !part->empty() : *part == wanted[i];
            if (to) *to = *part;
        }
        if (!fits) continue;
        if (route.method != request.method) {
            methods += (methods.empty() ? "" : ", ") + std::string(route.method);
            continue;
        }
        auto refusal = refuse_other_hub(request);
        if (!refusal) refusal = gate_.refuse(route, call);
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

void Admin::act(Action action, const AdminCall& call, AdminAnswer answer) {
    switch (action) {
        case Action::health: return answer(health());
        case Action::metrics:
            return answer({.body = metrics_text(),
                           .content_type = "text/plain; version=0.0.4; charset=utf-8"});
        case Action::list_hubs: return answer(hub_resource_.list(call));
        case Action::create_hub: return hub_resource_.create(call, std::move(answer));
        case Action::show_hub: return answer(hub_resource_.show(call.hub, 200));
        case Action::alter_hub: return hub_resource_.alter(call, std::move(answer));
        case Action::remove_hub: return hub_resource_.remove(call, std::move(answer));
        case Action::purge_hub: return hub_resource_.purge(call, std::move(answer));
        case Action::list_groups: return answer(group_resource_.list(call));
        case Action::create_group: return group_resource_.create(call, std::move(answer));
        case Action::show_group: return answer(group_resource_.show(call));
        case Action::remove_group: return group_resource_.remove(call, std::move(answer));
        case Action::list_partitions: return partition_resource_.list(call, std::move(answer));
        case Action::server: return answer(dashboard_resource_.server(call));
        case Action::demo: return answer(dashboard_resource_.demo(call));
        case Action::overview: return answer(dashboard_resource_.overview(call));
        case Action::watched_groups: return answer(dashboard_resource_.groups(call));
        case Action::processors: return answer(dashboard_resource_.processors(call));
        case Action::live: return answer(dashboard_resource_.live(call));
        case Action::explain: return answer(group_actions_.explain(call));
        case Action::lag: return answer(group_actions_.lag(call));
        case Action::scale: return answer(group_actions_.scale(call));
        case Action::request: return group_actions_.request(call, std::move(answer));
        case Action::list_letters: return group_actions_.list_letters(call, std::move(answer));
        case Action::show_letter: return group_actions_.show_letter(call, std::move(answer));
        case Action::resend_letter: return group_actions_.resend_letter(call, std::move(answer));
        case Action::remove_letter: return group_actions_.remove_letter(call, std::move(answer));
        case Action::list_events: return event_resource_.browse(call, std::move(answer));
        case Action::show_event: return event_resource_.show(call, std::move(answer));
        case Action::send_events: return event_resource_.send(call, std::move(answer));
        case Action::list_connections: return answer(connection_resource_.list(call));
        case Action::list_readers: return answer(connection_resource_.readers(call));
        case Action::list_keys: return answer(key_resource_.list(call));
        case Action::show_key: return answer(key_resource_.show(call));
        case Action::create_key: return key_resource_.create(call, std::move(answer));
        case Action::rotate_key: return key_resource_.rotate(call, std::move(answer));
        case Action::remove_key: return key_resource_.remove(call, std::move(answer));
    }
}

std::string Admin::metrics_text() const {
    std::string all = metrics_.to_text();
    if (activity_) {
        all +=
            activity_->hubs_text([this](const std::string& name) { return hubs_.find(name).ok(); });
    }
    return all;
}

std::optional<Response> Admin::refuse_other_hub(const http::Request& request) const {
    const std::string wanted = request.field(hub_field);
    if (wanted.empty() || wanted == hubs_.identity()) return std::nullopt;
    return error_of({ErrorCode::conflict,
                     "this is the admin interface of another hub: the request "
                     "is for " +
                         shown(wanted) + ", this one is " + hubs_.identity()});
}

Response Admin::health() const {
    const std::string identity = hubs_.identity();
    // The words are those of the official emulator, which tools wait for.
    if (problem_) {
        return json_response(
            {{"status", "unhealthy"}, {"message", json_text(*problem_)}, {"identity", identity}},
            503);
    }
    if (const auto progress = hubs_.recovery(); !progress.done()) {
        const std::string message = std::to_string(progress.recovered) + " of " +
                                    std::to_string(progress.partitions) +
                                    " partitions are recovered.";
        return json_response({{"status", "recovering"},
                              {"message", message},
                              {"partitions", progress.partitions},
                              {"recovered", progress.recovered},
                              {"identity", identity}},
                             503);
    }
    return json_response(
        {{"status", "healthy"}, {"message", "Service is healthy."}, {"identity", identity}});
}

}  // namespace evenkeel::door
