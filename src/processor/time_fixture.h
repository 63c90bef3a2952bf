// For tests: when they begin, far enough from 0 that times before it exist.
#pragma once

#include "base/clock.h"

namespace evenkeel::processor {

inline constexpr Instant start{1'000'000'000'000};

}  // namespace evenkeel::processor
