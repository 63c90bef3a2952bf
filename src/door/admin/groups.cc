// tidy: no test: tested by admin_test.cc
#include "door/admin/groups.h"

#include <algorithm>

#include <boost/json.hpp>

#include "base/text.h"
#include "door/admin/json_text.h"
#include "eventhubs/names.h"

namespace evenkeel::door {
namespace {

namespace json = boost::json;
using http::error_response;
using http::Response;

}  // namespace

std::vector<std::string> groups_of(const hub::EventHubRecord& record) {
    std::vector<std::string> groups = record.groups;
    groups.emplace_back(eventhubs::default_group);
    std::ranges::sort(groups);
    return groups;
}

Response GroupResource::list(const AdminCall& call) const {
    const auto found = hubs_.find(call.hub);
    if (!found.ok()) return error_of(found.error());
    json::array groups;
    for (const auto& group : groups_of((*found)->record())) {
        groups.emplace_back(json::object{{"name", json_text(group)}});
    }
    return json_response({{"groups", std::move(groups)}});
}

Response GroupResource::show(const AdminCall& call) const {
    const auto found = hubs_.find(call.hub);
    if (!found.ok()) return error_of(found.error());
    for (const auto& group : groups_of((*found)->record())) {
        if (eventhubs::folded(group) == eventhubs::folded(call.group)) {
            return json_response({{"name", json_text(group)}});
        }
    }
    return error_response(404, "not_found",
                          "consumer group '" + shown(call.group) + "' does not exist");
}

void GroupResource::create(const AdminCall& call, AdminAnswer answer) {
    auto members = Members::parse(call.request.body);
    if (!members.ok()) return answer(error_of(members.error()));
    const auto name = members->take_text("name");
    if (!name.ok()) return answer(error_of(name.error()));
    if (!*name) return answer(bad_request("name is missing"));
    if (const auto rest = members->check_empty(); !rest.ok()) {
        return answer(error_of(rest.error()));
    }
    hubs_.create_group(call.hub, **name, then(lifetime_, std::move(answer), [group = **name] {
                           return json_response({{"name", json_text(group)}}, 201);
                       }));
}

void GroupResource::remove(const AdminCall& call, AdminAnswer answer) {
    hubs_.remove_group(call.hub, call.group, then(lifetime_, std::move(answer), &no_content));
}

}  // namespace evenkeel::door
