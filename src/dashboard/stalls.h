// Partitions that stand still although events wait: neither the checkpoint nor what the owner's
// reader was sent has moved for `stalled_after`. A handler that gathers events for longer before it
// stores its progress is still sent new ones, and does not count. At once: those whose checkpoint
// lies behind the last event, which no processor reads until an operator sets a position.
//
// No I/O; the caller passes the views. Threads: those of its owner.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "dashboard/group_view.h"

namespace evenkeel::dashboard {

class Stalls {
public:
    // As ProcessorOptions::progress_slow is by default.
    static constexpr Duration stalled_after = std::chrono::seconds(60);

    // At each look into the store.
    void observe(const GroupView& view, Instant now, WallTime wall);
    // Sets the state of those that stand still, unless they are parked or paused.
    void mark(GroupView& view, Instant now) const;

private:
    struct Still {
        std::int64_t position = 0;
        std::optional<std::int64_t> last_sent = {};
        std::int64_t epoch = 0;
        std::optional<Instant> since = {};  // none: it moves, or nothing waits
        WallTime since_wall = {};           // the same for display
    };
    std::vector<Still> still_;  // by partition
};

}  // namespace evenkeel::dashboard
