// Times as users type them: "30s", "500ms", "2m", "1h", "7d"; "2026-03-02T09:14:00Z".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/clock.h"

namespace evenkeel::cli {

// None unless it is a positive whole number with one of the units ms, s, m, h, d, at most a year.
std::optional<Duration> parse_duration(std::string_view text);
// Unix time in milliseconds. A date, with or without a time, its seconds and their fraction; UTC,
// with or without a Z.
std::optional<std::int64_t> parse_time(std::string_view text);

}  // namespace evenkeel::cli
