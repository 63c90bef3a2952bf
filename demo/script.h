// When the demo kills a processor, and when it starts two more.
#pragma once

#include <optional>

#include "base/clock.h"

namespace evenkeel::demo {

struct Script {
    std::optional<Duration> kill_at = {};
    std::optional<Duration> scale_at = {};  // but not before all was taken over
    bool is_fast = false;                   // the profile of the processors
};

// So that all three pictures fit into `duration`; only the first if that is too short for more.
// Without a duration they come at their own pace.
Script script_for(const std::optional<Duration>& duration);

}  // namespace evenkeel::demo
