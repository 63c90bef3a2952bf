#include "door/admin/gate.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "door/activity.h"
#include "eventhubs/names.h"
#include "io/socket.h"

namespace evenkeel::door {
namespace {

using http::error_response;
using http::Response;

constexpr std::string_view bearer_word = "Bearer ";

// "hub" of "hub:5300", "::1" of "[::1]:5300"
std::string host_of(const std::string& field) {
    if (field.starts_with('['))
        return field.substr(1, std::max<std::size_t>(field.find(']'), 1) - 1);
    return field.substr(0, field.find(':'));
}

bool is_json(const http::Request& request) {
    const std::string type = request.field("Content-Type");
    std::string_view name = std::string_view(type).substr(0, type.find(';'));
    while (name.ends_with(' ')) name.remove_suffix(1);
    return equal_without_case(name, "application/json");
}

}  // namespace

Entity entity_of(const std::string& name) {
    return {eventhubs::folded(name), eventhubs::folded(name)};
}

bool may_read(const Claim& claim, const Entity& entity, WallTime now) {
    const std::vector<Claim> claims{claim};
    return is_allowed(claims, Right::listen, entity, now) ||
           is_allowed(claims, Right::send, entity, now) ||
           is_allowed(claims, Right::manage, entity, now);
}

std::optional<Response> AdminGate::refuse(const AdminRoute& route, AdminCall& call) const {
    if (route.access == Access::open) return std::nullopt;
    if (route.access == Access::metrics &&
        (options_.metrics_open || io::is_loopback(call.request.peer.host))) {
        return std::nullopt;
    }
    const WallTime now = loop_.clock().wall();
    auto claim = claim_of(call.request, now);
    if (!claim.ok()) {
        if (const std::string token = call.request.field("Authorization");
            options_.activity && !token.empty()) {
            options_.activity->login_refused({call.request.peer, "http"}, who_says(token),
                                             claim.error().detail);
        }
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
    const Right right = route.access == Access::listen ? Right::listen
                        : route.access == Access::send ? Right::send
                                                       : Right::manage;
    if (reads ? !may_read(*call.claim, entity, now)
              : !is_allowed({*call.claim}, right, entity, now)) {
        return error_response(403, "forbidden", "the token does not allow this");
    }
    if (route.method == "GET") return std::nullopt;
    if (route.method != "DELETE" && !is_json(call.request)) {
        return error_response(415, "unsupported", "the body must be application/json");
    }
    return std::nullopt;
}

Result<Claim> AdminGate::claim_of(const http::Request& request, WallTime now) const {
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

}  // namespace evenkeel::door
