#include "cli/text/duration.h"

#include <charconv>
#include <cstdint>
#include <ctime>
#include <string>

namespace evenkeel::cli {

std::optional<Duration> parse_duration(std::string_view text) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || number <= 0) return std::nullopt;
    const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
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
    if (number > year / one) return std::nullopt;
    return one * number;
}

std::optional<std::int64_t> parse_time(std::string_view text) {
    std::string owned(text);
    if (owned.ends_with('Z')) owned.pop_back();
    std::int64_t milliseconds = 0;
    if (const auto dot = owned.find('.'); dot != std::string::npos) {
        const std::string digits = (owned.substr(dot + 1) + "00").substr(0, 3);
        const char* const last = digits.data() + digits.size();
        const auto [end, error] = std::from_chars(digits.data(), last, milliseconds);
        const bool is_number = error == std::errc() && end == last && milliseconds >= 0;
        if (!is_number || dot + 1 == owned.size()) return std::nullopt;
        owned.resize(dot);
    }
    for (const char* pattern : {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M",
                                "%Y-%m-%d %H:%M", "%Y-%m-%d"}) {
        std::tm parts{};
        const char* const end = strptime(owned.c_str(), pattern, &parts);
        if (end && *end == '\0') return std::int64_t{timegm(&parts)} * 1000 + milliseconds;
    }
    return std::nullopt;
}

}  // namespace evenkeel::cli
