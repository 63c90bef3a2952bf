// Who may call a route of the admin interface: tokens of HTTP requests, checked by the rules that
// AMQP links are checked by (AUTH-1). Without a good token the answer is 401, with one that lacks
// the right 403; a write must be JSON.
//
//     Authorization: SharedAccessSignature sr=...&sig=...&se=...&skn=...   or  Bearer <JWT>
//
// Ownership: loop and keys outlive it.
// Threads: part of Admin, on the hub's loop.
// Failure: a refusal is an answer, ready to be sent.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "door/admin/call.h"
#include "door/admin/connection_resource.h"
#include "door/admin/event_resource.h"
#include "door/admin/routes.h"
#include "door/auth/access.h"
#include "door/auth/jwt.h"
#include "door/auth/key_ring.h"
#include "http/message.h"
#include "io/loop.h"

namespace evenkeel::dashboard {
class Dashboard;
}

namespace evenkeel::door {

class Activity;
class Quotas;

struct AdminOptions {
    // /metrics without a token from other hosts too, not only from this one. A proxy on this host
    // makes all its clients look as if they were here.
    bool metrics_open = false;
    std::shared_ptr<const JwtVerifier> jwt = {};  // none: no Bearer tokens
    bool accept_any_token = false;                // every Bearer token is good: for tests
    // Clients on this host need no token, if they call it by a name of this host, so that a page
    // that a browser shows from elsewhere has no such right. For `dev`, whose key everybody knows.
    bool trust_this_host = false;
    Activity* activity = nullptr;               // what /metrics has by event hub; outlives it
    dashboard::Dashboard* dashboard = nullptr;  // outlives it
    ConnectionLister connections = {};          // none: nobody connects over AMQP
    EventFilterParser event_filter = {};        // none: no filters
    const Quotas* quotas = nullptr;             // of what comes in; outlives it
};

class AdminGate {
public:
    AdminGate(io::Loop& loop, const KeyRing& keys, AdminOptions options)
        : loop_(loop), keys_(keys), options_(std::move(options)) {}

    void set_jwt(std::shared_ptr<const JwtVerifier> jwt) { options_.jwt = std::move(jwt); }
    // The answer to a call that may not be; else none, and the call knows what its token allows.
    std::optional<http::Response> refuse(const AdminRoute& route, AdminCall& call) const;

private:
    Result<Claim> claim_of(const http::Request& request, WallTime now) const;

    io::Loop& loop_;
    const KeyRing& keys_;
    AdminOptions options_;
};

// The name is decoded already, and is its own path.
Entity entity_of(const std::string& name);
// May send, listen or manage.
bool may_read(const Claim& claim, const Entity& entity, WallTime now);

}  // namespace evenkeel::door
