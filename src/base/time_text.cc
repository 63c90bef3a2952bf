#include "base/time_text.h"

#include <charconv>
#include <ctime>
#include <string>

namespace evenkeel {

std::optional<WallTime> parse_wall_time(std::string_view text) {
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
        if (end && *end == '\0') {
            return WallTime{std::int64_t{timegm(&parts)} * 1000 + milliseconds};
        }
    }
    return std::nullopt;
}

}  // namespace evenkeel
