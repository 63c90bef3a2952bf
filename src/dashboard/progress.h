// How far a group has come in one partition: what the hub has, compared with the checkpoint. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "checkpoint/store.h"

namespace evenkeel::dashboard {

// What a partition of the hub holds.
struct PartitionEnd {
    std::int64_t begin = 0;             // sequence number of the first event that is there
    std::int64_t last = -1;             // of the last event ever; -1 = none
    std::int64_t last_enqueued_ms = 0;  // of that one
    bool is_empty = true;
    std::int64_t created_ms = 0;  // when the event hub was created; 0: not known
};

struct Progress {
    std::int64_t position = -1;  // the last handled event; -1 = none yet
    std::int64_t lag = 0;        // events that wait
    // The checkpoint is of an event hub of this name that was removed: a processor reads this one
    // from its beginning, so there is no position.
    bool is_of_removed_hub = false;
    // The checkpoint lies behind the last event of the same event hub, which was set back to an
    // older state: a processor stands still there until an operator sets a position.
    bool is_beyond_end = false;
    // Events that retention has taken before they were handled; without a position none is known.
    std::int64_t lost = 0;
    // How much younger the newest event is than the last one handled; none = not known.
    std::optional<std::int64_t> behind_ms = {};
    // When retention may take the next event that is to be handled, at the earliest.
    std::optional<std::int64_t> loss_at_ms = {};
};

// `retention_ms` is 0 for ever, or if it is not known.
Progress progress_of(const PartitionEnd& end, const checkpoint::Checkpoint& checkpoint,
                     std::int64_t retention_ms);

}  // namespace evenkeel::dashboard
