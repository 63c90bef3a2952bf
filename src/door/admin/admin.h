// The JSON interface for people's tools, over HTTP: what there is, and changes of it. GET answers
// 200, a creation 201 with what was made, a removal 204; errors are
// {"error":{"code":"not_found","message":"..."}} with a status that fits.
//
//     Authorization: SharedAccessSignature sr=...&sig=...&se=...&skn=...   or  Bearer <JWT>
//
// Tokens are checked by the rules that AMQP links are checked by (AUTH-1). Every route of the table
// asks for one but those that say `open`. Without a good token the answer is 401, with one that
// lacks the right 403. Writes must be JSON. Whether the request was for us, and not sent by another
// site's page, the server asks before (http/site.h).
// Names in paths are percent-encoded: the hub a/b is /api/v1/hubs/a%2Fb.
//
// Each change, each look at a rule's keys, and each refusal of one leaves an audit line.
//
// Keys of rules are shown when they are made or rotated, and by GET of one rule; lists have only
// names. All of these ask for Manage.
// Threads: pinned to the hub's loop.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/lifetime.h"
#include "base/metrics.h"
#include "base/result.h"
#include "base/task.h"
#include "door/activity.h"
#include "door/auth/access.h"
#include "door/auth/jwt.h"
#include "door/auth/key_ring.h"
#include "http/message.h"
#include "hub/namespace.h"
#include "io/loop.h"

namespace evenkeel::door {

struct AdminOptions {
    // /metrics without a token from other hosts too, not only from this one. A proxy on this host
    // makes all its clients look as if they were here.
    bool metrics_open = false;
    std::shared_ptr<const JwtVerifier> jwt = {};  // none: no Bearer tokens
    bool accept_any_token = false;                // every Bearer token is good: for tests
    // Clients on this host need no token, if they call it by a name of this host, so that a page
    // that a browser shows from elsewhere has no such right. For `dev`, whose key everybody knows.
    bool trust_this_host = false;
    Activity* activity = nullptr;  // what /metrics has by event hub; outlives it
};

enum class Access : std::uint8_t {
    open,       // to everybody
    metrics,    // to this host, or to whoever may `read`
    read,       // send, listen or manage, on the event hub or on anything for lists
    manage,     // of the event hub
    manage_all  // of the namespace
};

struct AdminRoute {
    enum class Action : std::uint8_t {
        health,
        metrics,
        list_hubs,
        create_hub,
        show_hub,
        alter_hub,
        remove_hub,
        purge_hub,
        list_groups,
        create_group,
        show_group,
        remove_group,
        list_partitions,
        list_keys,
        create_key,
        show_key,
        remove_key,
        rotate_key,
    };
    std::string_view method;
    std::string_view path;  // {hub}, {group} and {key} stand for one part each
    Access access;
    Action action;
};

class Admin {
public:
    // All outlive it, and it outlives the answers that it owes only if it is asked to: those that
    // come after its end are dropped.
    // `reads` may block: it looks at what is stored.
    Admin(io::Loop& loop, io::Executor& reads, hub::Namespace& hubs, KeyRing& keys,
          const Metrics& metrics, AdminOptions options);

    // As http::Handler.
    void handle(const http::Request& request, Callback<void(http::Response)> answer);
    void set_jwt(std::shared_ptr<const JwtVerifier> jwt) { options_.jwt = std::move(jwt); }
    // What /health says from now on: 503 and the reason, or all is well.
    void set_problem(std::optional<std::string> problem) { problem_ = std::move(problem); }

    static std::span<const AdminRoute> routes();

private:
    struct Call;
    using Answer = Callback<void(http::Response)>;

    std::optional<http::Response> refuse(const AdminRoute& route, Call& call) const;
    Result<Claim> claim_of(const http::Request& request, WallTime now) const;
    // Leaves an audit line when the answer is known.
    Answer audited(const AdminRoute& route, const Call& call, Answer answer) const;
    std::string metrics_text() const;
    void act(AdminRoute::Action action, Call& call, Answer answer);
    http::Response health() const;
    http::Response list_hubs(const Call& call) const;
    http::Response list_groups(const Call& call) const;
    http::Response show_group(const Call& call) const;
    void list_partitions(const Call& call, Answer answer);
    void create_hub(const Call& call, Answer answer);
    void alter_hub(const Call& call, Answer answer);
    void remove_hub(const Call& call, Answer answer);
    void create_group(const Call& call, Answer answer);
    void purge(const Call& call, Answer answer);
    http::Response list_keys(const Call& call) const;
    http::Response show_key(const Call& call) const;
    void create_key(const Call& call, Answer answer);
    void rotate_key(const Call& call, Answer answer);
    // What there is of that name now, or why not.
    http::Response show_hub(const std::string& name, int status) const;
    // Answers with what a change made, or why it did not.
    Callback<void(Result<>)> then(Answer answer, Callback<http::Response()> success) const;
    void watch_traffic();

    io::Loop& loop_;
    io::Executor& reads_;
    hub::Namespace& hubs_;
    KeyRing& keys_;
    const Metrics& metrics_;
    AdminOptions options_;
    std::optional<std::string> problem_;
    Lifetime lifetime_;
};

// The status of an error of the hub.
int status_of(ErrorCode code);

}  // namespace evenkeel::door
