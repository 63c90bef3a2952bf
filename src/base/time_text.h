// Times as users write them.
#pragma once

#include <optional>
#include <string_view>

#include "base/clock.h"

namespace evenkeel {

// A date, with or without a time, its seconds and their fraction; UTC, with or without a Z:
// "2026-03-02T09:14:00.123Z", "2026-03-02 09:14", "2026-03-02".
std::optional<WallTime> parse_wall_time(std::string_view text);

}  // namespace evenkeel
