// Where a new owner begins to read: what the checkpoint says, held against what the partition has.
// Pure.
//
//     checkpoint              partition               begins
//     none                    any                     at the start position
//     event 41                0 to 99                 behind 41
//     event 41                60 to 99                at 60, and says that 18 events were missed
//     event 410               0 to 99, another hub    at 0, and says so
//     event 410               0 to 99, the same hub   nowhere: somebody has to decide
//     event 41                41 is another event     nowhere: the hub was restored and written on
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "checkpoint/store.h"
#include "source/source.h"
#include <evenkeel/event.h>

namespace evenkeel::processor {

// The last handled event, by which the hub is known again. A hub that was restored from a back-up
// and written on has another event under that number.
struct Landmark {
    std::int64_t sequence = -1;
    std::int64_t offset = -1;      // -1: not known
    std::int64_t enqueued_ms = 0;  // 0: not known
};

struct Resume {
    Position position = {};
    // Handled up to here: the checkpoint's, or another where that does not hold.
    SequenceNumber handled = {};
    // The store's checkpoint belongs to another hub of this name: reset it before anything else.
    bool must_reset = false;
    // The position is "now": store it before anything is read, or what comes before the first
    // checkpoint is lost with this owner.
    bool must_pin = false;
    // To be compared with the event before anything behind it is handled; none if it is not there
    // any more, or nothing but its number is known.
    std::optional<Landmark> landmark = {};
    std::optional<Error> notice = {};  // for the operator
};

// `created_ms` is the hub's, 0 if unknown. A checkpoint without an event but with a hub was pinned
// to that hub's beginning.
Result<Resume> resume(const checkpoint::Checkpoint& checkpoint,
                      const source::PartitionProperties& partition, std::int64_t created_ms,
                      const Position& start);

// `invalid_argument` if `found`, the hub's event of that number, is not the one that was handled.
// An offset that is no number (Event Hubs with geo-replication) is not compared.
Result<> check(const Landmark& landmark, const Event& found);

}  // namespace evenkeel::processor
