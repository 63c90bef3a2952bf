// A group as operators see it: what its store lists and what the hub knows, together. Pure.
//
//     GroupState (store) ─┐
//     HubSide (hub) ──────┼──▶ make_group_view() ──▶ GroupView ──▶ JSON
//     Members (who lives) ┘
//
// Unknown values are none, never 0.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "dashboard/group_state.h"
#include "dashboard/progress.h"
#include "processor/balance/members.h"

namespace evenkeel::dashboard {

// A partition as the hub knows it.
struct HubPartition {
    PartitionEnd end;
    double in_per_s = 0;
    double out_per_s = 0;
    // The reader of this group that has an epoch, if there is one.
    std::optional<std::int64_t> reader_epoch = {};
    // To the group's last reader that had an epoch, which may be gone; and that epoch.
    std::optional<std::int64_t> last_sent = {};
    std::optional<std::int64_t> sent_epoch = {};
};

struct HubSide {
    std::vector<HubPartition> partitions;
    std::optional<std::int64_t> retention_ms = {};
};

struct MemberView {
    std::string id;
    std::string state;  // active, standby, leaving, unable, silent
    std::string host;
    std::int64_t since_ms = 0;
    std::int64_t silent_ms = 0;
    std::optional<std::int64_t> lease_ms = {};
    std::optional<std::int64_t> dead_after_ms = {};
    std::optional<std::string> profile = {};
    std::uint32_t share = 0;
    double in_per_s = 0;
};

struct PartitionView {
    std::uint32_t partition = 0;
    std::optional<std::string> owner = {};
    std::int64_t epoch = 0;
    std::int64_t owned_since_ms = 0;
    std::string phase = "free";  // owned, offered, draining, stored, free
    std::optional<std::string> next = {};
    HubPartition hub = {};
    Progress progress = {};
    std::optional<std::int64_t> checkpoint_at_ms = {};  // enqueued time of that event
    std::optional<std::int64_t> stored_ms = {};         // age of the checkpoint
    std::optional<std::int64_t> loss_s = {};
    std::optional<std::int64_t> repeats_max = {};
    std::string state = "ok";  // ok, stalled, parked, paused
    std::optional<std::int64_t> since_ms = {};
    std::optional<std::string> cause = {};
};

struct RequestView {
    std::string kind;  // pause, drain
    std::string what;
    bool operator==(const RequestView&) const = default;
};

struct GroupView {
    std::vector<MemberView> members;          // in the order in which they joined
    std::vector<PartitionView> partitions;    // by number
    std::vector<processor::OwnerMove> moves;  // newest first, at most moves_max
    std::vector<RequestView> requests;
    std::optional<std::uint64_t> dead_letters = {};
    std::optional<std::int64_t> retention_ms = {};

    static constexpr std::size_t moves_max = 200;

    // The furthest behind of all partitions; none if of one it is not known.
    std::optional<std::int64_t> behind_ms() const;
    std::int64_t lag() const;
    std::optional<std::int64_t> loss_s() const;  // the nearest
    std::size_t owned() const;
};

// `seen` has observed the members of this state. Without one the group has no entries.
GroupView make_group_view(const GroupState* state, const HubSide& hub,
                          const processor::Members& seen, Instant now, WallTime wall);

// A heartbeat is missing: the member has been silent for longer than one that lives ever is, by its
// own profile, or by that of the store if it does not say which it has.
Duration silent_after(const processor::Timing& timing);
// For those who watch a group: as its members judge each other, by the store's clock if that is
// exact.
processor::Timing watching_timing();

}  // namespace evenkeel::dashboard
