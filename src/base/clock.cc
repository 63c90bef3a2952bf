#include "base/clock.h"

#include <cstdio>

#include <time.h>

namespace evenkeel {

std::string to_string(WallTime time) {
    std::int64_t seconds = time.milliseconds / 1000;
    std::int64_t fraction = time.milliseconds % 1000;
    if (fraction < 0) {
        fraction += 1000;
        seconds -= 1;
    }
    const std::time_t whole = seconds;
    std::tm parts{};
    gmtime_r(&whole, &parts);
    char text[64];
    std::snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", parts.tm_year + 1900,
                  parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                  static_cast<int>(fraction));
    return text;
}

Instant SystemClock::now() const {
    timespec time{};
    clock_gettime(CLOCK_BOOTTIME, &time);
    return {std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec};
}

WallTime SystemClock::wall() const {
    timespec time{};
    clock_gettime(CLOCK_REALTIME, &time);
    return {std::int64_t{time.tv_sec} * 1000 + time.tv_nsec / 1'000'000};
}

}  // namespace evenkeel
