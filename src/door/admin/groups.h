// The admin interface's routes for the consumer groups of an event hub.
//
// Ownership: hubs outlive it. Answers that come after its end are dropped.
// Threads: part of Admin, on the hub's loop.
// Failure: errors of the hub become answers (status_of).
#pragma once

#include <string>
#include <vector>

#include "base/lifetime.h"
#include "door/admin/call.h"
#include "hub/namespace.h"

namespace evenkeel::door {

class GroupResource {
public:
    explicit GroupResource(hub::Namespace& hubs) : hubs_(hubs) {}

    http::Response list(const AdminCall& call) const;
    http::Response show(const AdminCall& call) const;
    void create(const AdminCall& call, AdminAnswer answer);
    void remove(const AdminCall& call, AdminAnswer answer);

private:
    hub::Namespace& hubs_;
    Lifetime lifetime_;
};

// All groups, "$Default" too, sorted.
std::vector<std::string> groups_of(const hub::EventHubRecord& record);

}  // namespace evenkeel::door
