// Looks into the store of one group again and again, for a dashboard. Changes nothing, and makes
// nothing where the store does not know the group.
//
//     unopened ──open, whose entries are ours?──▶ open ──look every period, or on watch()──┐
//      ▲ ▲ └──no: again after 2, 4, 8, 15 s──┐      ▲                                      │
//      │ └───────────────────────────────────┘      │                                      │
//      └──── after an error: 1, 2, 4, 8, 15 s ◀─────┴──────────────────────────────────────┘
//
// The entries of a hub are found by its identity, under whatever name its processors reached it
// (processor/ownership/group_home.h).
// Ownership: owns the store. What it is given outlives it.
// Threads: pinned to the loop of the store, where opening may block; never the hub's loop.
// Failure: each look says how it ended, and the next one follows.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/lifetime.h"
#include "base/task.h"
#include "checkpoint/store.h"
#include "checkpoint/timed_store.h"
#include "dashboard/group_state.h"
#include "io/loop.h"
#include "io/timer.h"

namespace evenkeel::dashboard {

// Of the records under processor::moves_prefix; the oldest first.
std::vector<processor::OwnerMove> moves_of(const std::vector<checkpoint::Record>& records);

class GroupReader {
public:
    struct Place {
        io::Loop& loop;
        // May block. None: the store does not know this group.
        std::function<Result<std::unique_ptr<checkpoint::Store>>(const checkpoint::GroupName&)>
            open;
        std::function<void(GroupLook)> seen;  // on the loop, after each look
    };
    struct Name {
        std::string event_hub;
        std::string group;
        std::string identity;  // of the hub
        // Where to look for entries that no record ties to the hub, as in Blob storage.
        std::vector<std::string> hosts;
        bool is_host_given = false;  // then what has no owner there is ours
    };
    static constexpr Duration period = std::chrono::seconds(1);
    static constexpr Duration period_thrifty = std::chrono::seconds(20);
    static constexpr Duration pause_min = std::chrono::milliseconds(250);  // between two looks
    static constexpr Duration retry_max = std::chrono::seconds(15);
    static constexpr Duration call_max = std::chrono::seconds(10);

    GroupReader(Place place, Name name) : place_(std::move(place)), name_(std::move(name)) {}
    GroupReader(const GroupReader&) = delete;
    GroupReader& operator=(const GroupReader&) = delete;
    ~GroupReader();

    void start() { look(); }
    // Something was changed: look soon.
    void look_soon();
    // The store, or why there is none.
    Result<checkpoint::Store*> store();

private:
    void look();
    void find();
    void find_under(std::size_t host);
    void try_host(const std::string& host, std::function<void()> otherwise, bool takes_unowned);
    void opened();
    void list();
    void list_moves();
    void answered();
    void fail(const Error& error);
    void end_look(GroupLook look, Duration next);
    void drop_store();
    void note_ownerships();
    template <typename T, typename Then>
    auto taking(Then then);

    const Place place_;
    const Name name_;
    std::unique_ptr<checkpoint::Store> store_;
    std::unique_ptr<checkpoint::TimedStore> timed_;  // around store_
    std::unique_ptr<checkpoint::Store> tried_;       // while it is found out whose it is
    std::unique_ptr<GroupState> state_;              // of the look under way
    std::optional<Error> error_;                     // of a part of it
    int pending_ = 0;                                // answers
    std::uint64_t looks_ = 0;
    std::uint64_t ownerships_hash_ = 0;
    int moves_wanted_ = 1;            // so many of the next looks list the moves too
    bool are_moves_decided_ = false;  // of the look under way
    std::shared_ptr<const std::vector<processor::OwnerMove>> moves_;
    std::optional<std::uint64_t> dead_letters_;
    std::uint32_t failures_ = 0;  // in a row
    std::uint32_t misses_ = 0;    // looks in a row that found no entries of this group
    Instant last_look_{};
    io::Timer timer_{place_.loop};  // not pending while a look is under way
    Lifetime lifetime_;
};

}  // namespace evenkeel::dashboard
