// The admin interface's routes for event hubs: what there is, changes of it, and purges.
//
// Ownership: loop, hubs and keys outlive it. Answers that come after its end are dropped.
// Threads: part of Admin, on the hub's loop.
// Failure: errors of the hub become answers (status_of).
#pragma once

#include <string>

#include "base/lifetime.h"
#include "door/admin/call.h"
#include "door/auth/key_ring.h"
#include "hub/namespace.h"
#include "io/loop.h"

namespace evenkeel::door {

class HubResource {
public:
    HubResource(io::Loop& loop, hub::Namespace& hubs, KeyRing& keys)
        : loop_(loop), hubs_(hubs), keys_(keys) {}

    // Those that the call's token reaches.
    http::Response list(const AdminCall& call) const;
    // What there is of that name now, or why not.
    http::Response show(const std::string& name, int status) const;
    void create(const AdminCall& call, AdminAnswer answer);
    void alter(const AdminCall& call, AdminAnswer answer);
    // Its keys go with it, so that another one of that name does not know them.
    void remove(const AdminCall& call, AdminAnswer answer);
    // Of one partition or of all; up to a sequence number or everything.
    void purge(const AdminCall& call, AdminAnswer answer);

private:
    io::Loop& loop_;
    hub::Namespace& hubs_;
    KeyRing& keys_;
    Lifetime lifetime_;
};

}  // namespace evenkeel::door
