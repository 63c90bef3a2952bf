// Watched groups as JSON, as docs/admin-api.md has it: one line in a list, and the whole snapshot.
// Threads: the hub's loop, to which a WatchedGroup is pinned. Failure: what is not known is null.
#pragma once

#include "dashboard/group_view.h"
#include "dashboard/groups.h"
#include "dashboard/json_writer.h"

namespace evenkeel::dashboard {

// All write members of an object that the caller has begun.

// Which group, and how its store is.
void write_head(JsonWriter& json, const WatchedGroup& group, Instant now);
void write_summary(JsonWriter& json, const WatchedGroup& group, const GroupView& view, Instant now);
struct Moment {
    Instant now;
    WallTime wall;
};
void write_snapshot(JsonWriter& json, const WatchedGroup& group, const GroupView& view,
                    const Moment& moment);
void write_member(JsonWriter& json, const MemberView& member);
void write_owner(JsonWriter& json, const PartitionView& partition);
void write_state(JsonWriter& json, const PartitionView& partition);
void write_move(JsonWriter& json, const processor::OwnerMove& move);
void write_requests(JsonWriter& json, const GroupView& view);
// Times that are 0 are not known.
void write_time(JsonWriter& json, std::string_view key, std::optional<std::int64_t> ms);

}  // namespace evenkeel::dashboard
