// The admin interface's routes that ask something of a watched group, or change it: why a partition
// is where it is, its lag of the last day, pause, resume, drain and seek, and its dead letters.
//
// Ownership: all it is given outlives it. Answers that come after its end are dropped.
// Threads: part of Admin, on the hub's loop; stores are called on their own loops.
// Failure: errors of the store become answers (status_of), without its secrets.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/lifetime.h"
#include "dashboard/dashboard.h"
#include "door/admin/call.h"
#include "door/admin/intake.h"
#include "hub/namespace.h"
#include "io/loop.h"

namespace evenkeel::door {

class GroupActions {
public:
    // `dashboard` may be none: then there are no watched groups.
    GroupActions(io::Loop& loop, io::Executor& reads, hub::Namespace& hubs, Intake& intake,
                 dashboard::Dashboard* dashboard)
        : loop_(loop), reads_(reads), hubs_(hubs), intake_(intake), dashboard_(dashboard) {}

    http::Response explain(const AdminCall& call) const;
    http::Response lag(const AdminCall& call) const;
    // 503 if the lag is not known: an autoscaler keeps what it has then.
    http::Response scale(const AdminCall& call) const;
    void request(const AdminCall& call, AdminAnswer answer);
    void list_letters(const AdminCall& call, AdminAnswer answer);
    void show_letter(const AdminCall& call, AdminAnswer answer);
    // Stores the event again, at the end of its hub or another one; the call's token must allow to
    // send there.
    void resend_letter(const AdminCall& call, AdminAnswer answer);
    void remove_letter(const AdminCall& call, AdminAnswer answer);

private:
    struct Wanted {
        std::string action;
        std::vector<std::uint32_t> partitions;  // none: all
        std::string member;
        std::string to;
        bool is_preview = false;
    };
    struct Resending {
        std::string hub;
        std::string group;
        std::string to;                   // event hub
        std::optional<std::string> body;  // instead of its own
        bool is_removed = true;           // from the letters
        Claim claim;                      // of who asks
        io::Endpoint from;
    };
    Result<const dashboard::WatchedGroup*> group_of(const AdminCall& call) const;
    static Result<Wanted> wanted_by(const AdminCall& call);
    void seek(const AdminCall& call, const dashboard::WatchedGroup& group, const Wanted& wanted,
              AdminAnswer answer);
    // 202, and a look at what it has changed.
    Callback<void(Result<>)> asked(const std::string& hub, const std::string& group,
                                   AdminAnswer answer);
    void with_letter(const AdminCall& call, AdminAnswer answer,
                     Callback<void(checkpoint::DeadLetter, AdminAnswer)> then);
    void resend(const Resending& wanted, checkpoint::DeadLetter letter, AdminAnswer answer);
    void resent(const Resending& wanted, const checkpoint::DeadLetterId& id,
                http::Response response, AdminAnswer answer);

    io::Loop& loop_;
    io::Executor& reads_;
    hub::Namespace& hubs_;
    Intake& intake_;
    dashboard::Dashboard* const dashboard_;
    Lifetime lifetime_;
};

}  // namespace evenkeel::door
