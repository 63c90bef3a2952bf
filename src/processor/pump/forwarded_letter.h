// A dead letter as an event of a dead-letter hub: body and properties as they came, and beside them
//
//     evenkeel-cause, evenkeel-attempts          why, and after how many attempts
//     evenkeel-hub, evenkeel-group               whose event it was
//     evenkeel-partition, evenkeel-sequence,     where it is, or was
//     evenkeel-offset, evenkeel-enqueued-ms
//     evenkeel-at-ms                             when it was dead-lettered
//
// A hub keeps every event until retention. So a dead letter is removed by one more event in the
// same partition of that hub, a removal: it names the dead letter and has
//
//     evenkeel-removed-at-ms                     when it was removed
//
// and no evenkeel-cause. Every dead letter has one, so an event that was sent with a property of
// that name and then dead-lettered is no removal. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/store.h"
#include <evenkeel/event.h>

namespace evenkeel::processor {

// Whose dead letters they are.
struct LetterOrigin {
    std::string event_hub;
    std::string group;
};

struct ForwardedLetter {
    LetterOrigin origin;
    checkpoint::DeadLetter letter;  // its sections as they were before it was forwarded
    bool is_removal = false;        // of the letter of that partition, number and enqueued time
};

std::vector<std::byte> forwarded(const checkpoint::DeadLetter& letter, const LetterOrigin& origin);
std::vector<std::byte> removal_of(const checkpoint::DeadLetter& letter, const LetterOrigin& origin,
                                  std::int64_t now_ms);

// None if the event is neither a dead letter nor a removal.
std::optional<ForwardedLetter> read_forwarded(const Event& event);

}  // namespace evenkeel::processor
