#include "demo/script.h"

namespace evenkeel::demo {
namespace {

constexpr Duration pace = std::chrono::seconds(30);
// A take-over needs about 8 s by the standard profile, and 4 s by the fast one.
constexpr Duration standard_min = std::chrono::seconds(25);
constexpr Duration pictures_min = std::chrono::seconds(9);

}  // namespace

Script script_for(const std::optional<Duration>& duration) {
    const Duration length = duration.value_or(pace);
    Script script;
    script.is_fast = length < standard_min;
    if (length >= pictures_min) {
        script.kill_at = length / 4;
        script.scale_at = length * 3 / 5;
    }
    return script;
}

}  // namespace evenkeel::demo
