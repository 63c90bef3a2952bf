#include "dashboard/stalls.h"

namespace evenkeel::dashboard {

void Stalls::observe(const GroupView& view, Instant now, WallTime wall) {
    still_.resize(view.partitions.size());
    for (std::size_t i = 0; i < still_.size(); ++i) {
        const PartitionView& partition = view.partitions[i];
        Still& still = still_[i];
        const bool has_moved = still.position != partition.progress.position ||
                               still.last_sent != partition.hub.last_sent ||
                               still.epoch != partition.epoch;
        const bool is_held = partition.state == "parked" || partition.state == "paused";
        const bool waits = partition.owner && partition.progress.lag > 0 && !is_held;
        if (!waits) {
            still.since.reset();
        } else if (has_moved || !still.since) {
            still.since = now;
            still.since_wall = wall;
        }
        still.position = partition.progress.position;
        still.last_sent = partition.hub.last_sent;
        still.epoch = partition.epoch;
    }
}

void Stalls::mark(GroupView& view, Instant now) const {
    for (std::size_t i = 0; i < view.partitions.size() && i < still_.size(); ++i) {
        PartitionView& partition = view.partitions[i];
        if (partition.progress.is_beyond_end && partition.state == "ok") {
            partition.state = "stalled";
            partition.cause =
                "Its checkpoint lies behind the last event: the event hub was set back to an older "
                "state. Choose a position for it.";
            continue;
        }
        const auto& since = still_[i].since;
        if (!since || partition.state != "ok" || now - *since < stalled_after) continue;
        partition.state = "stalled";
        partition.since_ms = still_[i].since_wall.milliseconds;
        partition.cause = "Events wait, but no checkpoint was stored since then.";
    }
}

}  // namespace evenkeel::dashboard
