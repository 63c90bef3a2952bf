#include "demo/handled.h"

#include <algorithm>

namespace evenkeel::demo {

void Handled::add(const HandledBatch& batch) {
    const auto [found, is_new] = partitions_[batch.partition].try_emplace(
        batch.epoch, Reign{batch.processor, batch.first, batch.last, batch.at_ms, batch.at_ms});
    if (!is_new) {
        Reign& reign = found->second;
        // One owner gets each event once, in order; and one epoch has one owner.
        if (batch.first != reign.last + 1 || batch.processor != reign.processor) ++out_of_order_;
        reign.last = std::max(reign.last, batch.last);
        reign.last_ms = std::max(reign.last_ms, batch.at_ms);
    }
}

void Handled::killed(std::uint32_t processor, std::int64_t at_ms) {
    killed_.emplace(processor, at_ms);
}

Handled::Summary Handled::summary() const {
    Summary summary;
    summary.out_of_order = out_of_order_;
    bool all_back = true;
    std::optional<double> failover;
    for (const auto& [partition, reigns] : partitions_) {
        const Reign* before = nullptr;
        std::int64_t reached = -1;  // by all earlier owners
        for (const auto& [epoch, reign] : reigns) {
            if (before) {
                if (before->last_ms > reign.first_ms) ++summary.past_fence;
                const auto repeated = static_cast<std::uint64_t>(
                    std::max<std::int64_t>(0, reached + 1 - reign.first));
                const auto death = killed_.find(before->processor);
                if (death != killed_.end() && reign.first_ms >= death->second) {
                    summary.repeated_at_crash += repeated;
                    const double seconds =
                        static_cast<double>(reign.first_ms - death->second) / 1000;
                    failover = std::max(failover.value_or(0), seconds);
                } else {
                    summary.repeated_at_handover += repeated;
                    ++summary.handovers;
                    summary.handover_gap_seconds_max =
                        std::max(summary.handover_gap_seconds_max,
                                 static_cast<double>(reign.first_ms - before->last_ms) / 1000);
                }
            }
            before = &reign;
            reached = std::max(reached, reign.last);
        }
        if (before && killed_.contains(before->processor)) all_back = false;
    }
    if (all_back) summary.failover_seconds = failover;
    return summary;
}

}  // namespace evenkeel::demo
