// TimeSpan of .NET, as host.json and retry policies have it: "[-][d.]hh:mm[:ss[.fffffff]]", or days
// alone. Pure.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace evenkeel::host {

// Nothing if it is not one; negative ones are, too. Parts of a millisecond are cut off.
std::optional<std::chrono::milliseconds> parse_time_span(std::string_view text);

}  // namespace evenkeel::host
