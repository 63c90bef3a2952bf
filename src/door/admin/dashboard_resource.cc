#include "door/admin/dashboard_resource.h"

#include <utility>

#include "base/text.h"
#include "door/admin/gate.h"
#include "door/admin/query.h"

namespace evenkeel::door {
namespace {

using dashboard::JsonWriter;
using http::Response;

Response no_dashboard() {
    return error_of({ErrorCode::unsupported, "this server has no dashboard"});
}

Response json_of(JsonWriter json, int status = 200) {
    return {.status = status, .body = json.take() + "\n"};
}

}  // namespace

DashboardResource::DashboardResource(io::Loop& loop, const KeyRing& keys,
                                     dashboard::Dashboard* dashboard)
    : loop_(loop), keys_(keys), dashboard_(dashboard) {
    if (dashboard_) live_.emplace(loop_, *dashboard_);
}

dashboard::Reach DashboardResource::reach_of(const AdminCall& call) const {
    const WallTime now = loop_.clock().wall();
    return [claim = *call.claim, now](const std::string& hub) {
        return may_read(claim, entity_of(hub), now);
    };
}

Response DashboardResource::server(const AdminCall& call) const {
    if (!dashboard_) return no_dashboard();
    const Claim& claim = *call.claim;
    const auto name = [](const std::string& text) {
        return text.empty() ? std::nullopt : std::optional(text);
    };
    JsonWriter json;
    json.object([&] {
        dashboard_->write_server(json);
        json.key("access").object([&] {
            json.member("rule", name(claim.rule)).key("rights").array([&] {
                for (const auto right : names_of(claim.rights)) json.value(right);
            });
            // The token may be for less than its rule.
            const std::string& path = claim.path;
            json.member("hub",
                        name(claim.hub.empty() ? path.substr(0, path.find('/')) : claim.hub));
            json.member("open", call.request.field("Authorization").empty());
        });
    });
    return json_of(std::move(json));
}

Response DashboardResource::demo(const AdminCall& call) const {
    if (!dashboard_ || !dashboard_->demo().ask) {
        return error_of({ErrorCode::not_found, "this server runs no demo"});
    }
    auto members = Members::parse(call.request.body);
    if (!members.ok()) return error_of(members.error());
    const auto action = members->take_text("action");
    if (!action.ok()) return error_of(action.error());
    if (const auto rest = members->check_empty(); !rest.ok()) return error_of(rest.error());
    if (const auto asked = dashboard_->demo().ask(action->value_or("")); !asked.ok()) {
        return error_of(asked.error());
    }
    return {.status = 202, .body = "{\"asked\":true}\n"};
}

Response DashboardResource::groups(const AdminCall& call) const {
    if (!dashboard_) return no_dashboard();
    JsonWriter json;
    json.object([&] { dashboard_->write_groups(json, reach_of(call)); });
    return json_of(std::move(json));
}

Response DashboardResource::overview(const AdminCall& call) const {
    if (!dashboard_) return no_dashboard();
    JsonWriter json;
    json.object([&] { dashboard_->write_overview(json, reach_of(call)); });
    return json_of(std::move(json));
}

Response DashboardResource::processors(const AdminCall& call) const {
    if (!dashboard_) return no_dashboard();
    const auto* const group = dashboard_->groups().find(call.hub, call.group);
    if (!group) {
        return error_of({ErrorCode::not_found,
                         "group '" + shown(call.group) + "' of event hub '" + shown(call.hub) +
                             "' is not watched; add a [[group]] to the server's file, or start "
                             "'evenkeel dev' with --watch-store"});
    }
    JsonWriter json;
    json.object([&] { dashboard_->write_processors(json, *group); });
    return json_of(std::move(json));
}

Response DashboardResource::live(const AdminCall& call) {
    if (!dashboard_) return no_dashboard();
    auto query = parse_query(call.request.query, {"topics"});
    if (!query.ok()) return error_of(query.error());
    auto topics = dashboard::parse_topics((*query)["topics"]);
    if (!topics.ok()) return error_of(topics.error());
    const auto reach = reach_of(call);
    for (const auto& topic : *topics) {
        if (topic.hub.empty() || reach(topic.hub)) continue;
        return http::error_response(403, "forbidden", "the token does not allow this");
    }
    auto may_stay = [this, claim = *call.claim]() mutable {
        return loop_.clock().wall() < claim.expires && keys_.access().refresh(claim);
    };
    const std::string who = who_of(*call.claim);
    auto stream = live_->open({.topics = std::move(*topics),
                               .reach = reach,
                               .reach_name = call.claim->hub + "/" + call.claim->path,
                               .who = who == "-" ? call.request.peer.host : who,
                               .may_stay = std::move(may_stay)});
    if (!stream.ok()) return error_of(stream.error());
    return {.content_type = "text/event-stream; charset=utf-8", .stream = std::move(*stream)};
}

}  // namespace evenkeel::door
