// Moves a group to another position: what that would repeat and skip, and then the move itself.
//
//     plan_seek() ──▶ steps, shown to the operator ──▶ carry_out(), partition by partition
//
// Ownership: what is passed by reference outlives the answer. Threads: see each function.
// Failure: carry_out() stops at the first error; partitions before that have moved.
#pragma once

#include <cstdint>
#include <vector>

#include "checkpoint/store.h"
#include "dashboard/event_browser.h"
#include "dashboard/group_view.h"

namespace evenkeel::dashboard {

struct SeekStep {
    std::uint32_t partition = 0;
    std::int64_t from = -1;  // the last handled event; -1 = none
    std::int64_t to = -1;
    std::int64_t repeats = 0;
    std::int64_t skips = 0;
    std::int64_t hub_created_ms = 0;  // of the event hub that `to` is a position in; 0: not known
};

// From where the view has the group. Of these partitions, or of all if there is none.
// Threads: pinned to the hub's loop.
void plan_seek(const BrowsePlace& place, const GroupView& view, const BrowseStart& to,
               const std::vector<std::uint32_t>& partitions,
               Callback<void(Result<std::vector<SeekStep>>)> done);
// {"partitions":[...],"repeats","skips"}
std::string to_json(const std::vector<SeekStep>& steps);

// Takes each partition from its owner, who starts again at the new position. Stops at the first
// error. Threads: pinned to the store's loop.
void carry_out(checkpoint::Store& store, std::vector<SeekStep> steps,
               checkpoint::Store::Answer<> done);

}  // namespace evenkeel::dashboard
