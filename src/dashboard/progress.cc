#include "dashboard/progress.h"

#include <algorithm>

namespace evenkeel::dashboard {

Progress progress_of(const PartitionEnd& end, const checkpoint::Checkpoint& checkpoint,
                     std::int64_t retention_ms) {
    Progress progress;
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
