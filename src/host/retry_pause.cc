#include "host/retry_pause.h"

#include <algorithm>
#include <cmath>

namespace evenkeel::host {

Duration retry_pause(const RetryRule& rule, std::uint32_t retry, double spread) {
    if (!rule.is_exponential || retry <= 1) return rule.delay;
    const auto least = static_cast<double>(rule.delay.count());
    const double pause =
        least + spread * std::ldexp(least, static_cast<int>(std::min(retry, 100u)) - 2);
    // Not a number is not less, either.
    if (!(pause < static_cast<double>(rule.delay_max.count()))) return rule.delay_max;
    return std::chrono::milliseconds(static_cast<std::int64_t>(pause));
}

}  // namespace evenkeel::host
