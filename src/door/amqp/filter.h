// Where a receiver starts, from its source's filter: one comparison with an annotation,
//
//   amqp.annotation.x-opt-offset > '123'
//
// with or without blanks and quotes, > or >=, for x-opt-offset, x-opt-sequence-number and
// x-opt-enqueued-time. '-1' is the earliest event, '@latest' the end.
#pragma once

#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include <evenkeel/event.h>

namespace evenkeel::door {

inline constexpr std::size_t filter_bytes_max = 4096;

Result<Position> parse_filter(std::string_view expression);
// The position in an encoded filter map; the earliest if it has no selector. Any descriptor will
// do.
Result<Position> position_of_filter(ByteView filter_map);

}  // namespace evenkeel::door
