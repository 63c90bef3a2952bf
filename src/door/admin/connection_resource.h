// The admin interface's routes for connections and links, and for the readers of an event hub.
//
// Ownership: all it is given outlives it. Threads: part of Admin, on the hub's loop.
// Failure: errors become answers.
#pragma once

#include <functional>
#include <utility>

#include "door/admin/call.h"
#include "door/connections.h"
#include "hub/namespace.h"

namespace evenkeel::door {

using ConnectionLister = std::function<ConnectionPage(const ConnectionQuery&)>;

class ConnectionResource {
public:
    static constexpr std::size_t limit_max = 1000;

    // Without a lister nobody is ever connected.
    ConnectionResource(hub::Namespace& hubs, ConnectionLister lister)
        : hubs_(hubs), lister_(std::move(lister)) {}

    // All, or those of the call's event hub.
    http::Response list(const AdminCall& call) const;
    // Readers of the call's event hub with their groups and epochs.
    http::Response readers(const AdminCall& call) const;

private:
    Result<ConnectionQuery> query_of(const AdminCall& call) const;

    hub::Namespace& hubs_;
    ConnectionLister lister_;
};

}  // namespace evenkeel::door
