// Amounts as users type them.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace evenkeel::cli {

// "7d", "24h", "90m", "30s", "500ms", "2w"; "forever" is 0. At most 10,000 years.
std::optional<std::chrono::milliseconds> parse_retention(std::string_view text);
// "10GiB", "500MB", "1024", "64k"; "unlimited" is 0.
std::optional<std::uint64_t> parse_bytes(std::string_view text);
// Events a second: "100", "100/s", "2.5/s", "600/m", "1000/h".
std::optional<double> parse_rate(std::string_view text);

}  // namespace evenkeel::cli
