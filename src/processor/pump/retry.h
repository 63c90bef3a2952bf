// How often and how soon something is tried again. Pure.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "base/random.h"
#include <evenkeel/processor.h>

namespace evenkeel::processor {

// The pause after a handler has failed for the `failures`th time, from 1.
Duration retry_delay(const RetryPolicy& policy, std::uint32_t failures, Random& random);

// The pause before a pump, or a write to the store, is tried again after that many failures in a
// row: 100 ms, doubling up to 5 s, give or take a fifth.
Duration restart_delay(std::uint32_t failures, Random& random);

// Whether a handler says with this error that its surroundings failed, not the event: `unavailable`
// (its database is away, its command cannot be started) and `overloaded`. No attempt is counted. A
// `timed_out` is one: an event may be what takes so long.
bool is_outage(const Error& error);

// What becomes of a batch whose handler has failed, and not for an outage.
enum class Verdict : std::uint8_t {
    retry,   // after a pause
    single,  // one by one, at once: only one of them may be to blame
    poison,  // this event will not be tried again
};

// `failures` counts those of the first event, with this one. An event is never poison before it was
// tried alone.
Verdict judge(const RetryPolicy& policy, const Error& error, std::size_t batch_events,
              std::uint32_t failures);

}  // namespace evenkeel::processor
