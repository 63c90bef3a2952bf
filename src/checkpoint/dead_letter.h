// What a dead letter is called, and the event that it was. Pure.
#pragma once

#include <string>
#include <string_view>

#include "checkpoint/store.h"
#include <evenkeel/event.h>

namespace evenkeel::checkpoint {

DeadLetterId id_of(const DeadLetter& letter);
// "3/17": partition and sequence number.
std::string to_string(const DeadLetterId& id);
// `invalid_argument` if it is none.
Result<DeadLetterId> parse_letter_id(std::string_view text);

// A view of it as the event that it was; lives as long as the letter.
Event event_of(const DeadLetter& letter);

}  // namespace evenkeel::checkpoint
