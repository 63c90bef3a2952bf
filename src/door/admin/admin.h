// The JSON interface for operators' tools, over HTTP: what there is, and changes of it. GET answers
// 200, a creation 201 with what was made, a removal 204; errors are
// {"error":{"code":"not_found","message":"..."}} with a status that fits.
//
// An AdminGate checks the token of each request (AUTH-1). Every route of the table asks for one but
// those that say `open`. Whether the request was for us, and not sent by another site's page, the
// server asks before (http/site.h). Each resource answers its own routes.
// Names in paths are percent-encoded: the hub a/b is /api/v1/hubs/a%2Fb.
//
// "/" and all below /ui/ is the dashboard's page (dashboard/page.h), which holds nothing secret and
// is open to everybody.
//
// Each change, each look at a rule's keys, and each refusal of one leaves an audit line.
//
// Ownership: owns gate and resources. Answers that come after its end are dropped.
// Threads: pinned to the hub's loop.
// Failure: errors become answers; health says what is wrong with the server.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/metrics.h"
#include "door/activity.h"
#include "door/admin/call.h"
#include "door/admin/connection_resource.h"
#include "door/admin/dashboard_resource.h"
#include "door/admin/event_resource.h"
#include "door/admin/gate.h"
#include "door/admin/group_actions.h"
#include "door/admin/groups.h"
#include "door/admin/hubs.h"
#include "door/admin/intake.h"
#include "door/admin/keys.h"
#include "door/admin/partitions.h"
#include "door/admin/routes.h"
#include "door/auth/key_ring.h"
#include "http/message.h"
#include "hub/namespace.h"
#include "io/loop.h"

namespace evenkeel::door {

class Admin {
public:
    // All outlive it, and it outlives the answers that it owes only if it is asked to: those that
    // come after its end are dropped.
    // `reads` may block: it looks at what is stored.
    Admin(io::Loop& loop, io::Executor& reads, hub::Namespace& hubs, KeyRing& keys,
          const Metrics& metrics, const AdminOptions& options);

    // As http::Handler.
    void handle(const http::Request& request, AdminAnswer answer);
    void set_jwt(std::shared_ptr<const JwtVerifier> jwt) { gate_.set_jwt(std::move(jwt)); }
    // What /health says from now on: 503 and the reason, or all is well.
    void set_problem(std::optional<std::string> problem) { problem_ = std::move(problem); }

    // A request with this field is for the hub of that identity only; any other answers 409.
    static constexpr const char* hub_field = "Evenkeel-Hub";

    static std::span<const AdminRoute> routes() { return admin_routes(); }

private:
    void act(AdminRoute::Action action, const AdminCall& call, AdminAnswer answer);
    std::string metrics_text() const;
    http::Response health() const;
    std::optional<http::Response> refuse_other_hub(const http::Request& request) const;

    io::Loop& loop_;
    hub::Namespace& hubs_;
    const Metrics& metrics_;
    Activity* const activity_;
    AdminGate gate_;
    Intake intake_;
    HubResource hub_resource_;
    GroupResource group_resource_;
    PartitionResource partition_resource_;
    KeyResource key_resource_;
    DashboardResource dashboard_resource_;
    GroupActions group_actions_;
    EventResource event_resource_;
    ConnectionResource connection_resource_;
    std::optional<std::string> problem_;
};

}  // namespace evenkeel::door
