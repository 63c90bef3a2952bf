// One look at a group: what the hub has in each partition, and what the store says about it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "checkpoint/store.h"
#include "cli/remote/remote.h"
#include "cli/remote/store_session.h"
#include "dashboard/progress.h"
#include "host/scale/group_load.h"
#include "processor/ownership/requests.h"
#include <evenkeel/client.h>

namespace evenkeel::cli {

struct GroupPlace {
    std::string event_hub;
    std::string group;
    std::string store;
};

struct GroupLook {
    struct Row {
        PartitionInfo hub;
        checkpoint::Ownership ownership = {};
        checkpoint::Checkpoint checkpoint = {};
        bool is_alive = false;  // the owner has an entry among the members
        std::uint64_t dead_letters = 0;
    };
    bool is_there = false;  // in the store
    std::vector<checkpoint::Member> members;
    std::vector<Row> rows;  // by partition
    processor::Paused paused;
    std::map<PartitionId, processor::Parked> parked;
    std::optional<processor::StoreLost> store_lost;
    std::int64_t retention_ms = 0;  // 0: for ever, or not known
    std::string hub_identity;       // "": not one of ours
    std::int64_t hub_created_ms = 0;

    dashboard::Progress progress(const Row& row) const;
    // For the scale controller. `conflict`: a partition stands still beyond the end of the event
    // hub, so nobody knows what is unread.
    Result<host::GroupLoad> load() const;
    std::uint32_t instances() const;  // members that are not about to leave
};

// What an operator is told of a partition whose progress `is_beyond_end`.
std::string stands_still(const PartitionInfo& hub, const dashboard::Progress& progress);

// Its parts: the partitions as the hub has them; then members, ownerships and checkpoints.
Result<> read_hub(Client& client, GroupLook& group);
Result<> read_group(StoreSession& session, GroupLook& group);
// After both: events came and were handled between the two. Asks again where a checkpoint seems to
// lie behind the end.
Result<> read_hub_again(Client& client, GroupLook& group);

// The whole. Blocks. Nothing is made where the store does not know the group. `hub_answered` tells
// whose error it is, that of the hub or of the store. `name` is how the hub knows this client.
Result<GroupLook> look_at_group(const Remote& remote, const GroupPlace& place,
                                const std::string& name, bool& hub_answered);

}  // namespace evenkeel::cli
