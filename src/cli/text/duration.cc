#include "cli/text/duration.h"

#include <cstdint>

#include "base/number.h"
#include "base/time_text.h"

namespace evenkeel::cli {

std::optional<Duration> parse_duration(std::string_view text) {
    std::string_view unit = text;
    const auto number = take_number<std::int64_t>(unit);
    if (!number || *number <= 0) return std::nullopt;
    Duration one{};
    if (unit == "ms") {
        one = std::chrono::milliseconds(1);
    } else if (unit == "s") {
        one = std::chrono::seconds(1);
    } else if (unit == "m") {
        one = std::chrono::minutes(1);
    } else if (unit == "h") {
        one = std::chrono::hours(1);
    } else if (unit == "d") {
        one = std::chrono::hours(24);
    } else {
        return std::nullopt;
    }
    const Duration year = std::chrono::hours(24 * 365);
    if (*number > year / one) return std::nullopt;
    return one * *number;
}

std::optional<std::int64_t> parse_time(std::string_view text) {
    const auto time = parse_wall_time(text);
    if (!time) return std::nullopt;
    return time->milliseconds;
}

}  // namespace evenkeel::cli
