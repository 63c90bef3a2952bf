#include "host/app/time_span.h"

#include <cstdint>
#include <string>
#include <vector>

#include "base/number.h"

namespace evenkeel::host {
namespace {

using std::chrono::milliseconds;

constexpr std::int64_t days_max = 10'000'000;  // .NET has about that many

std::optional<std::int64_t> part(std::string_view text, std::int64_t below) {
    if (text.empty() || text.size() > 8 || text[0] == '-') return std::nullopt;
    const auto number = parse_number<std::int64_t>(text);
    if (!number || *number >= below) return std::nullopt;
    return number;
}

// The digits behind the point, as milliseconds.
std::optional<std::int64_t> fraction(std::string_view digits) {
    if (digits.empty() || digits.size() > 7) return std::nullopt;
    if (digits.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
    const std::string three = (std::string(digits) + "00").substr(0, 3);
    return parse_number<std::int64_t>(three);
}

}  // namespace

std::optional<milliseconds> parse_time_span(std::string_view text) {
    const bool is_negative = text.starts_with('-');
    if (is_negative) text.remove_prefix(1);
    const auto signed_span = [&](std::int64_t value) {
        return milliseconds(is_negative ? -value : value);
    };
    constexpr std::int64_t second = 1000, minute = 60 * second, hour = 60 * minute, day = 24 * hour;
    if (text.find(':') == std::string_view::npos) {
        const auto days = part(text, days_max);
        if (!days) return std::nullopt;
        return signed_span(*days * day);
    }
    std::int64_t total = 0;
    if (const auto point = text.find('.'); point < text.find(':')) {
        const auto days = part(text.substr(0, point), days_max);
        if (!days) return std::nullopt;
        total += *days * day;
        text.remove_prefix(point + 1);
    }
    if (const auto point = text.find('.'); point != std::string_view::npos) {
        const auto parsed = fraction(text.substr(point + 1));
        if (!parsed) return std::nullopt;
        total += *parsed;
        text = text.substr(0, point);
    }
    std::vector<std::string_view> parts;
    for (std::size_t begin = 0; begin <= text.size();) {
        const auto end = std::min(text.find(':', begin), text.size());
        parts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    if (parts.size() != 2 && parts.size() != 3) return std::nullopt;
    const auto hours = part(parts[0], 24);
    const auto minutes = part(parts[1], 60);
    const auto seconds = parts.size() == 3 ? part(parts[2], 60) : 0;
    if (!hours || !minutes || !seconds) return std::nullopt;
    return signed_span(total + *hours * hour + *minutes * minute + *seconds * second);
}

}  // namespace evenkeel::host
