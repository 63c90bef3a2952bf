#include "cli/text/units.h"

#include <limits>

#include "base/number.h"

namespace evenkeel::cli {
namespace {

template <typename Number>
struct Amount {
    Number number;
    std::string_view unit;
};

template <typename Number>
std::optional<Amount<Number>> amount_of(std::string_view text) {
    const auto number = take_number<Number>(text);
    if (!number || *number < Number{}) return std::nullopt;
    return Amount<Number>{*number, text};
}

struct Unit {
    std::string_view name;
    std::uint64_t size;
};

// A number and one of the units; none if the product is above `max`.
template <std::size_t Count>
std::optional<std::uint64_t> scaled(std::string_view text, const Unit (&units)[Count],
                                    std::uint64_t max) {
    const auto amount = amount_of<std::uint64_t>(text);
    if (!amount) return std::nullopt;
    for (const auto& unit : units) {
        if (unit.name != amount->unit) continue;
        if (amount->number > max / unit.size) return std::nullopt;
        return amount->number * unit.size;
    }
    return std::nullopt;
}

constexpr std::uint64_t second = 1000, minute = 60 * second, hour = 60 * minute, day = 24 * hour;
constexpr Unit times[] = {{"ms", 1},   {"s", second}, {"m", minute},
                          {"h", hour}, {"d", day},    {"w", 7 * day}};
constexpr std::uint64_t kib = 1024, mib = 1024 * kib, gib = 1024 * mib, tib = 1024 * gib;
constexpr Unit sizes[] = {{"", 1},
                          {"B", 1},
                          {"k", kib},
                          {"KiB", kib},
                          {"M", mib},
                          {"MiB", mib},
                          {"G", gib},
                          {"GiB", gib},
                          {"T", tib},
                          {"TiB", tib},
                          {"kB", 1'000},
                          {"MB", 1'000'000},
                          {"GB", 1'000'000'000},
                          {"TB", 1'000'000'000'000}};

}  // namespace

std::optional<std::chrono::milliseconds> parse_retention(std::string_view text) {
    if (text == "forever") return std::chrono::milliseconds(0);
    const auto milliseconds = scaled(text, times, 10'000 * 365 * day);
    if (!milliseconds || *milliseconds == 0) return std::nullopt;
    return std::chrono::milliseconds(*milliseconds);
}

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
    if (text == "unlimited") return 0;
    const auto bytes =
        scaled(text, sizes, static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
    if (!bytes || *bytes == 0) return std::nullopt;
    return bytes;
}

std::optional<double> parse_rate(std::string_view text) {
    const auto amount = amount_of<double>(text);
    if (!amount || !(amount->number <= 1e9)) return std::nullopt;
    if (amount->unit.empty() || amount->unit == "/s") return amount->number;
    if (amount->unit == "/m") return amount->number / 60;
    if (amount->unit == "/h") return amount->number / 3600;
    return std::nullopt;
}

}  // namespace evenkeel::cli
