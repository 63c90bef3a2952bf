// Where a new owner begins to read: what the checkpoint says, held against what the partition has.
// Pure.
//
//     checkpoint              partition               begins
//     none                    any                     at the start position
//     event 41                0 to 99                 behind 41
//     event 41                60 to 99                at 60, and says that 18 events were missed
//     event 410               0 to 99, another hub    at 0, and says so
//     event 410               0 to 99, the same hub   nowhere: somebody has to decide
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "checkpoint/store.h"
#include "source/source.h"
#include <evenkeel/event.h>

namespace evenkeel::processor {

struct Resume {
    Position position = {};
    // Handled up to here: the checkpoint's, or another where that does not hold.
    SequenceNumber handled = {};
    // The store's checkpoint belongs to another hub of this name: reset it before anything else.
    bool must_reset = false;
    // The position is "now": store it before anything is read, or what comes before the first
    // checkpoint is lost with this owner.
    bool must_pin = false;
    std::optional<Error> notice = {};  // for people
};

// `created_ms` is the hub's, 0 if unknown. A checkpoint without an event but with a hub was pinned
// to that hub's beginning.
Result<Resume> resume(const checkpoint::Checkpoint& checkpoint,
                      const source::PartitionProperties& partition, std::int64_t created_ms,
                      const Position& start);

}  // namespace evenkeel::processor
