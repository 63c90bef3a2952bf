// The admin interface's routes for events: a page of them, one, and sending some.
//
// Ownership: all it is given outlives it. Answers that come after its end are dropped.
// Threads: part of Admin; what is not in memory is read on `reads`, which may block.
// Failure: errors of the hub become answers (status_of); of a list of events that are sent, those
// to one partition are stored together or not at all, and an error says which were stored.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/lifetime.h"
#include "dashboard/event_browser.h"
#include "door/admin/call.h"
#include "door/admin/intake.h"
#include "door/admin/sent_events.h"
#include "hub/namespace.h"
#include "io/loop.h"

namespace evenkeel::door {

// What events of an event hub must match. invalid_argument says what is wrong with the text.
using EventFilterParser =
    std::function<Result<dashboard::EventMatch>(const std::string& hub, std::string_view text)>;

class EventResource {
public:
    static constexpr std::size_t events_max = 1000;  // that are sent together
    static constexpr std::size_t browses_max = 8;    // that run; more are refused: overloaded

    // Without a parser no filter is understood.
    EventResource(io::Loop& loop, io::Executor& reads, hub::Namespace& hubs, Intake& intake,
                  EventFilterParser filters)
        : loop_(loop), reads_(reads), hubs_(hubs), intake_(intake), filters_(std::move(filters)) {}

    void browse(const AdminCall& call, AdminAnswer answer);
    void show(const AdminCall& call, AdminAnswer answer);
    // Events, or a copy of a stored one, which the call's token must allow to read.
    void send(const AdminCall& call, AdminAnswer answer);

private:
    struct Sender {
        std::string hub;
        Claim claim;
        io::Endpoint from;
    };
    void send_copy(const AdminCall& call, const CopyOf& wanted, AdminAnswer answer);
    void store(const Sender& sender, const SentEvents& given, AdminAnswer answer);
    Result<dashboard::BrowseQuery> query_of(const AdminCall& call) const;
    dashboard::BrowsePlace place_of(const AdminCall& call) const {
        return {loop_, reads_, hubs_, call.hub};
    }

    io::Loop& loop_;
    io::Executor& reads_;
    hub::Namespace& hubs_;
    Intake& intake_;
    const EventFilterParser filters_;
    std::size_t browses_ = 0;  // also of clients that have gone meanwhile
    Lifetime lifetime_;
};

}  // namespace evenkeel::door
