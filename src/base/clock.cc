#include "base/clock.h"

#include <cstdio>

#include <time.h>

namespace evenkeel {
namespace {

void put_digits(std::string& text, std::size_t at, std::size_t digits, int number) {
    for (std::size_t i = digits; i > 0; --i, number /= 10) {
        text[at + i - 1] = static_cast<char>('0' + number % 10);
    }
}

}  // namespace

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
    const int year = parts.tm_year + 1900;
    if (year < 0 || year > 9999) {
        char text[64];
        std::snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", year,
                      parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                      static_cast<int>(fraction));
        return text;
    }
    // Without snprintf(): each event as JSON has a time.
    std::string text = "0000-00-00T00:00:00.000Z";
    put_digits(text, 0, 4, year);
    put_digits(text, 5, 2, parts.tm_mon + 1);
    put_digits(text, 8, 2, parts.tm_mday);
    put_digits(text, 11, 2, parts.tm_hour);
    put_digits(text, 14, 2, parts.tm_min);
    put_digits(text, 17, 2, parts.tm_sec);
    put_digits(text, 20, 3, static_cast<int>(fraction));
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
