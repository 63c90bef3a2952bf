#include "host/handler/suspects.h"

#include <algorithm>

namespace evenkeel::host {

bool Suspects::has(const Execution& execution) {
    const auto found = ranges_.find({execution.function, execution.partition});
    if (found == ranges_.end()) return false;
    if (execution.first > found->second.last) {  // dead-lettered, or skipped
        ranges_.erase(found);
        return false;
    }
    return execution.last >= found->second.first;
}

void Suspects::add(const Execution& execution) {
    const auto [found, is_new] =
        ranges_.try_emplace({execution.function, execution.partition},
                            Range{.first = execution.first, .last = execution.last});
    if (is_new) return;
    Range& range = found->second;
    range.first = std::min(range.first, execution.first);
    range.last = std::max(range.last, execution.last);
}

bool Suspects::is_to_blame(const Execution& execution, bool was_asked) {
    const auto found = ranges_.find({execution.function, execution.partition});
    if (found == ranges_.end()) return true;
    return !was_asked || std::exchange(found->second.was_excused, true);
}

void Suspects::answered(const Execution& execution) {
    const auto found = ranges_.find({execution.function, execution.partition});
    if (found == ranges_.end()) return;
    found->second.first = execution.last + 1;
    found->second.was_excused = false;
    if (found->second.first > found->second.last) ranges_.erase(found);
}

void Suspects::forget(const std::string& function, std::uint32_t partition) {
    ranges_.erase({function, partition});
}

}  // namespace evenkeel::host
