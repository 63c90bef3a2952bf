// The admin interface's routes for the dashboard: the server, its traffic, and watched groups.
//
// Ownership: loop, keys and dashboard outlive it.
// Threads: part of Admin, on the hub's loop.
// Failure: without a dashboard, and for groups that are not watched, the answer says so.
#pragma once

#include <optional>

#include "dashboard/dashboard.h"
#include "dashboard/live_feed.h"
#include "door/admin/call.h"
#include "door/auth/key_ring.h"
#include "io/loop.h"

namespace evenkeel::door {

class DashboardResource {
public:
    // `dashboard` may be none.
    DashboardResource(io::Loop& loop, const KeyRing& keys, dashboard::Dashboard* dashboard);

    http::Response server(const AdminCall& call) const;
    // A button of the demo; `not_found` on every other server.
    http::Response demo(const AdminCall& call) const;
    http::Response groups(const AdminCall& call) const;
    http::Response overview(const AdminCall& call) const;
    http::Response processors(const AdminCall& call) const;
    // Server-sent events, until the token ends.
    http::Response live(const AdminCall& call);

private:
    dashboard::Reach reach_of(const AdminCall& call) const;

    io::Loop& loop_;
    const KeyRing& keys_;
    dashboard::Dashboard* const dashboard_;
    std::optional<dashboard::LiveFeed> live_;
};

}  // namespace evenkeel::door
