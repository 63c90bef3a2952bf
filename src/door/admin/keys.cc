#include "door/admin/keys.h"

#include <utility>

#include <boost/json.hpp>

#include "door/admin/json_text.h"
#include "eventhubs/names.h"

namespace evenkeel::door {
namespace {

namespace json = boost::json;
using http::Response;

enum class Secrets : std::uint8_t { left_out, shown };

json::object rule_json(const Rule& rule, bool is_fixed, Secrets secrets) {
    json::array rights;
    for (const auto& name : names_of(rule.rights)) rights.emplace_back(json_text(name));
    json::object object{{"name", json_text(rule.name)},
                        {"hub", nullptr},
                        {"rights", std::move(rights)},
                        {"fixed", is_fixed}};
    if (!rule.hub.empty()) object["hub"] = json_text(rule.hub);
    if (secrets == Secrets::shown) {
        object["primary_key"] = json_text(rule.primary.reveal());
        object["secondary_key"] = json_text(rule.secondary.reveal());
    }
    return object;
}

Result<RuleWish> wish_of(const std::string& body, const std::string& hub) {
    EK_TRY_ASSIGN(auto members, Members::parse(body));
    RuleWish wish;
    wish.hub = hub;
    EK_TRY_ASSIGN(const auto name, members.take_text("name"));
    if (!name) return Error{ErrorCode::invalid_argument, "name is missing"};
    wish.name = *name;
    EK_TRY_ASSIGN(const auto rights, members.take_texts("rights"));
    if (!rights) return Error{ErrorCode::invalid_argument, "rights is missing"};
    EK_TRY_ASSIGN(wish.rights, parse_rights(*rights));
    // Those who move here bring the keys that their clients know.
    EK_TRY_ASSIGN(auto primary, members.take_text("primary_key"));
    EK_TRY_ASSIGN(auto secondary, members.take_text("secondary_key"));
    if (primary) wish.primary = Secret(std::move(*primary));
    if (secondary) wish.secondary = Secret(std::move(*secondary));
    EK_TRY(members.check_empty());
    return wish;
}

Result<KeyKind> kind_of(const std::string& body) {
    EK_TRY_ASSIGN(auto members, Members::parse(body));
    EK_TRY_ASSIGN(const auto kind, members.take_text("key"));
    EK_TRY(members.check_empty());
    if (kind == "primary") return KeyKind::primary;
    if (kind == "secondary") return KeyKind::secondary;
    return Error{ErrorCode::invalid_argument,
                 "key must be \"primary\" or \"secondary\": the one to be replaced"};
}

}  // namespace

Response KeyResource::list(const AdminCall& call) const {
    if (!call.hub.empty()) {
        if (const auto found = hubs_.find(call.hub); !found.ok()) return error_of(found.error());
    }
    json::array keys;
    for (const auto& entry : keys_.list()) {
        // Of the whole namespace: all there are; of an event hub: its own.
        if (!call.hub.empty() && entry.rule->hub != eventhubs::folded(call.hub)) continue;
        keys.emplace_back(rule_json(*entry.rule, entry.is_fixed, Secrets::left_out));
    }
    return json_response({{"keys", std::move(keys)}});
}

Response KeyResource::show(const AdminCall& call) const {
    const auto found = keys_.find(call.key, call.hub);
    if (!found.ok()) return error_of(found.error());
    return json_response(rule_json(*found->rule, found->is_fixed, Secrets::shown));
}

void KeyResource::create(const AdminCall& call, AdminAnswer answer) {
    auto wish = wish_of(call.request.body, call.hub);
    if (!wish.ok()) return answer(error_of(wish.error()));
    if (!call.hub.empty()) {
        if (const auto found = hubs_.find(call.hub); !found.ok()) {
            return answer(error_of(found.error()));
        }
    }
    keys_.create(std::move(*wish),
                 lifetime_.guard([answer = std::move(answer)](const Result<Rule>& made) mutable {
                     answer(made.ok() ? json_response(rule_json(*made, false, Secrets::shown), 201)
                                      : error_of(made.error()));
                 }));
}

void KeyResource::rotate(const AdminCall& call, AdminAnswer answer) {
    const auto kind = kind_of(call.request.body);
    if (!kind.ok()) return answer(error_of(kind.error()));
    keys_.rotate(call.key, call.hub, *kind,
                 lifetime_.guard([answer = std::move(answer)](const Result<Rule>& rotated) mutable {
                     answer(rotated.ok() ? json_response(rule_json(*rotated, false, Secrets::shown))
                                         : error_of(rotated.error()));
                 }));
}

void KeyResource::remove(const AdminCall& call, AdminAnswer answer) {
    keys_.remove(call.key, call.hub, then(lifetime_, std::move(answer), &no_content));
}

}  // namespace evenkeel::door
