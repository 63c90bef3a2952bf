#include "cli/handled.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>

namespace evenkeel::cli {

std::optional<HandledBatch> parse_handled(std::string_view line, std::uint32_t processor) {
    std::array<std::int64_t, 6> numbers{};
    const char* at = line.data();
    const char* const end = at + line.size();
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        if (i > 0) {
            if (at == end || *at != ' ') return std::nullopt;
            ++at;
        }
        const auto [next, error] = std::from_chars(at, end, numbers[i]);
        if (error != std::errc()) return std::nullopt;
        at = next;
    }
    const auto [partition, epoch, first, last, wrong, at_ms] = numbers;
    if (at != end || partition < 0 || wrong < 0 || first < 0 || last < first) return std::nullopt;
    return HandledBatch{processor, static_cast<std::uint32_t>(partition), epoch, first,
                        last,      static_cast<std::uint64_t>(wrong),     at_ms};
}

void Handled::cover(std::map<std::int64_t, std::int64_t>& intervals, std::int64_t first,
                    std::int64_t last) {
    auto at = intervals.upper_bound(first);
    if (at != intervals.begin() && std::prev(at)->second >= first - 1) {
        --at;
        first = at->first;
    }
    while (at != intervals.end() && at->first <= last + 1) {
        last = std::max(last, at->second);
        at = intervals.erase(at);
    }
    intervals.emplace(first, last);
}

void Handled::add(const HandledBatch& batch) {
    PartitionHistory& history = partitions_[batch.partition];
    const auto [found, is_new] = history.reigns.try_emplace(
        batch.epoch, Reign{batch.processor, batch.first, batch.last, batch.at_ms, batch.at_ms});
    if (!is_new) {
        Reign& reign = found->second;
        // One owner gets each event once, in order; and one epoch has one owner.
        if (batch.first != reign.last + 1 || batch.processor != reign.processor) ++out_of_order_;
        reign.last = std::max(reign.last, batch.last);
        reign.last_ms = std::max(reign.last_ms, batch.at_ms);
    }
    wrong_ += batch.wrong;
    cover(history.intervals, batch.first, batch.last);
}

void Handled::killed(std::uint32_t processor, std::int64_t at_ms) {
    killed_.emplace(processor, at_ms);
}

std::optional<Handled::Owner> Handled::owner(std::uint32_t partition) const {
    const auto found = partitions_.find(partition);
    if (found == partitions_.end() || found->second.reigns.empty()) return std::nullopt;
    const auto& [epoch, reign] = *found->second.reigns.rbegin();
    return Owner{reign.processor, epoch, reign.last, reign.last_ms};
}

std::uint64_t Handled::missing(std::uint32_t partition, std::int64_t count) const {
    std::int64_t covered = 0;
    if (const auto found = partitions_.find(partition); found != partitions_.end()) {
        for (const auto& [first, last] : found->second.intervals) {
            if (first >= count) break;
            covered += std::min(last + 1, count) - first;
        }
    }
    return static_cast<std::uint64_t>(count - covered);
}

Handled::Summary Handled::summary() const {
    Summary summary;
    summary.out_of_order = out_of_order_;
    summary.wrong = wrong_;
    bool all_back = true;
    std::optional<double> failover;
    for (const auto& [partition, history] : partitions_) {
        for (const auto& [first, last] : history.intervals) {
            summary.handled += static_cast<std::uint64_t>(last + 1 - first);
        }
        const Reign* before = nullptr;
        std::int64_t reached = -1;  // by all earlier owners
        for (const auto& [epoch, reign] : history.reigns) {
            if (before) {
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

}  // namespace evenkeel::cli
