// What the store of a group lists at one look, as values: nothing of it is judged yet.
// Threads: made on the store's loop, then constant and shared with the hub's.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "checkpoint/store.h"
#include "processor/ownership/journal.h"

namespace evenkeel::dashboard {

struct GroupState {
    checkpoint::Pace pace = checkpoint::Pace::quick;
    std::vector<checkpoint::Member> members;
    std::vector<checkpoint::Ownership> ownerships;
    std::vector<checkpoint::Checkpoint> checkpoints;
    std::vector<checkpoint::Record> requests;  // also what members write there: parked partitions
    // Seldom listed, so shared by many looks; none until they are known.
    std::shared_ptr<const std::vector<processor::OwnerMove>> moves;  // oldest first
    std::optional<std::uint64_t> dead_letters;
};

// One look: a state, no entries of this group in the store, or why it failed.
struct GroupLook {
    std::shared_ptr<const GroupState> state = {};  // none: there is nothing, or it failed
    std::optional<Error> error = {};
    Duration retried_in{0};  // after an error
};

}  // namespace evenkeel::dashboard
