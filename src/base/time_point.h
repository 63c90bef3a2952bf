// Between WallTime and the time points of the public interface.
#pragma once

#include <chrono>

#include "base/clock.h"

namespace evenkeel {

inline WallTime wall_time(std::chrono::sys_time<std::chrono::milliseconds> time) {
    return {time.time_since_epoch().count()};
}
inline std::chrono::sys_time<std::chrono::milliseconds> time_point(WallTime time) {
    return std::chrono::sys_time<std::chrono::milliseconds>(
        std::chrono::milliseconds(time.milliseconds));
}

}  // namespace evenkeel
