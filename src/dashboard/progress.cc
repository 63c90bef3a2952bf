#include "dashboard/progress.h"

#include <algorithm>

namespace evenkeel::dashboard {

Progress progress_of(const PartitionEnd& end, const checkpoint::Checkpoint& checkpoint,
                     std::int64_t retention_ms) {
    Progress progress;
    const bool has_place = checkpoint.sequence.value >= 0 || !checkpoint.offset.empty();
    const bool are_hubs_known = end.created_ms != 0 && checkpoint.hub_created_ms != 0;
    const bool is_beyond = checkpoint.sequence.value > end.last;
    const bool is_other = are_hubs_known && end.created_ms != checkpoint.hub_created_ms;
    // As a processor decides it: processor/pump/resume.h.
    progress.is_of_removed_hub = has_place && (is_other || (is_beyond && !are_hubs_known));
    progress.is_beyond_end = is_beyond && are_hubs_known && !is_other;
    if (progress.is_beyond_end) {
        progress.position = checkpoint.sequence.value;
        return progress;
    }
    if (progress.is_of_removed_hub) {
        if (!end.is_empty) progress.lag = end.last + 1 - end.begin;
        if (progress.lag == 0) progress.behind_ms = 0;
        return progress;
    }
    progress.position = checkpoint.sequence.value;
    const std::int64_t next = std::max(progress.position + 1, end.begin);
    if (!end.is_empty) progress.lag = std::max<std::int64_t>(0, end.last + 1 - next);
    if (progress.position >= 0 && end.begin >= 0) {
        progress.lost = std::max<std::int64_t>(0, end.begin - progress.position - 1);
    }
    if (progress.lag == 0) {
        progress.behind_ms = 0;
    } else if (checkpoint.enqueued_ms != 0) {
        progress.behind_ms =
            std::max<std::int64_t>(0, end.last_enqueued_ms - checkpoint.enqueued_ms);
        if (retention_ms != 0) progress.loss_at_ms = checkpoint.enqueued_ms + retention_ms;
    }
    return progress;
}

}  // namespace evenkeel::dashboard
