// A scale decision as JSON, as docs/admin-api.md has it: for KEDA, for `evenkeel scale`.
#pragma once

#include "dashboard/group_view.h"
#include "dashboard/json_writer.h"
#include "host/scale/decide.h"

namespace evenkeel::dashboard {

// What the scale controller needs to know of a group.
host::GroupLoad load_of(const GroupView& view);
// Members that live and are not about to leave.
std::uint32_t instances_of(const GroupView& view);

// Members of an object that the caller has begun. "wanted" is null if the lag is not known.
void write_scale(JsonWriter& json, const host::ScaleDecision& decision,
                 const host::ScalePolicy& policy);

}  // namespace evenkeel::dashboard
