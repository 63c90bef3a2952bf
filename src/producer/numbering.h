// The numbers of an idempotent producer's events: an id, an epoch, and one number an event, counted
// in each partition from 1. They travel in the properties of the link and with every event.
#pragma once

#include <cstddef>
#include <cstdint>

#include "amqp/codec.h"
#include "base/bytes.h"
#include "base/result.h"

namespace evenkeel::producer {

// The most that stamped() adds to an event: the annotations, and 3 bytes where the event's length
// no longer fits into one byte.
inline constexpr std::size_t stamp_bytes_max = 126 + 3;

struct Numbering {
    std::int64_t id = 0;
    std::int32_t last = 0;  // acknowledged
};

// The number `events` after this one; 0 follows the largest.
std::int32_t number_after(std::int32_t number, std::size_t events);

// For the attach of a link: id, epoch and last number.
amqp::Buffer producer_properties(const Numbering& numbering);

struct Stamped {
    amqp::Buffer message;
    std::size_t events = 0;
};
// The batch with the numbers behind `numbering.last` in its events. `corrupt` if it is no batch.
Result<Stamped> stamped(ByteView batch, const Numbering& numbering);

}  // namespace evenkeel::producer
