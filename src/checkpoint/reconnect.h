// How long a store waits before it connects to its server again: longer after each failure.
#pragma once

#include "base/clock.h"

namespace evenkeel::checkpoint {

inline constexpr Duration reconnect_pause_min = std::chrono::milliseconds(50);
inline constexpr Duration reconnect_pause_max = std::chrono::seconds(5);

}  // namespace evenkeel::checkpoint
