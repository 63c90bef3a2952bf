// Times as people type them: "30s", "500ms", "2m", "1h".
#pragma once

#include <optional>
#include <string_view>

#include "base/clock.h"

namespace evenkeel::cli {

// None unless it is a positive whole number with one of the units ms, s, m, h, at most a year.
std::optional<Duration> parse_duration(std::string_view text);

}  // namespace evenkeel::cli
