// What the scale controller reads of one consumer group: from the hub and from the checkpoint
// store, as plain values. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace evenkeel::host {

struct PartitionLoad {
    // Events that are stored and not handled yet; without a checkpoint all that are stored. What
    // retention has removed is never part of it.
    std::int64_t unread = 0;
    // Events that retention removed before they were handled: an alarm, not work.
    std::int64_t lost = 0;
    std::int64_t position = -1;  // the last handled event; -1: there is no checkpoint
    std::int64_t last = -1;      // the last event ever stored; -1: none
};

struct GroupLoad {
    std::vector<PartitionLoad> partitions;
    // A partition is on its way to another instance, or has no live owner.
    bool is_moving = false;
    // How much younger the newest event is than the last one handled, at most; none: not known.
    std::optional<std::int64_t> behind_ms = {};
};

// What the stored events of a partition without a checkpoint are worth.
enum class NeverRead : std::uint8_t {
    one_event,   // somebody has to read the partition; how much there is to do shows then
    all_events,  // the group begins at the start of the partition, so all of them are work
};

struct LoadSum {
    std::int64_t unread = 0;  // as NeverRead says
    std::int64_t lost = 0;
    std::int64_t handled = 0;      // positions added up: only differences mean something
    std::int64_t stored = 0;       // the same of the last events
    std::uint32_t never_read = 0;  // partitions with events and without a checkpoint
    std::uint32_t backlogged = 0;  // partitions with a checkpoint and with unread events
    std::uint32_t partitions = 0;
    std::optional<std::int64_t> behind_ms = {};
};

// Sums end at the greatest number instead of wrapping around.
LoadSum sum_of(const GroupLoad& load, NeverRead never_read);

}  // namespace evenkeel::host
