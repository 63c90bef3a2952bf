// The admin interface's routes for rules and their keys. Keys are shown when they are made or
// rotated, and by a look at one rule; lists have only names.
//
// Ownership: hubs and keys outlive it. Answers that come after its end are dropped.
// Threads: part of Admin, on the hub's loop.
// Failure: errors of the key ring become answers (status_of).
#pragma once

#include "base/lifetime.h"
#include "door/admin/call.h"
#include "door/auth/key_ring.h"
#include "hub/namespace.h"

namespace evenkeel::door {

class KeyResource {
public:
    KeyResource(hub::Namespace& hubs, KeyRing& keys) : hubs_(hubs), keys_(keys) {}

    http::Response list(const AdminCall& call) const;
    http::Response show(const AdminCall& call) const;
    void create(const AdminCall& call, AdminAnswer answer);
    void rotate(const AdminCall& call, AdminAnswer answer);
    void remove(const AdminCall& call, AdminAnswer answer);

private:
    hub::Namespace& hubs_;
    KeyRing& keys_;
    Lifetime lifetime_;
};

}  // namespace evenkeel::door
