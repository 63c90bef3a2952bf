#include "process/processor/progress_checker.h"

#include <algorithm>

#include <fmt/core.h>

namespace evenkeel::lab {
namespace {

// How far a partition is handled without a gap.
class Prefix {
public:
    void add(std::int64_t first, std::int64_t last) {
        auto& end = later_[first];
        end = std::max(end, last);
        while (!later_.empty() && later_.begin()->first <= last_ + 1) {
            last_ = std::max(last_, later_.begin()->second);
            later_.erase(later_.begin());
        }
    }
    std::int64_t last() const { return last_; }

private:
    std::int64_t last_ = -1;
    std::map<std::int64_t, std::int64_t> later_;  // behind a gap: first to last
};

}  // namespace

void ProgressChecker::handled(std::uint32_t partition, std::int64_t first, std::int64_t last,
                              std::int64_t at_ms) {
    runs_.push_back({partition, first, last, at_ms});
}

void ProgressChecker::sampled(const std::vector<StoredProgress>& stored, std::int64_t at_ms) {
    for (const StoredProgress& now : stored) {
        const auto found = last_.find(now.partition);
        if (found != last_.end()) {
            const StoredProgress& before = found->second;
            if (now.sequence == before.sequence && now.epoch == before.epoch) continue;
            if (now.sequence < before.sequence || now.epoch < before.epoch) {
                went_back_ += fmt::format(
                    "partition {}: the stored checkpoint went back from {} (epoch {}) to {} (epoch "
                    "{})\n",
                    now.partition, before.sequence, before.epoch, now.sequence, now.epoch);
            }
        }
        last_[now.partition] = now;
        samples_.push_back({now, at_ms});
    }
    if (last_.size() > stored.size()) {
        went_back_ += fmt::format("{} stored checkpoints are gone\n", last_.size() - stored.size());
    }
}

std::string ProgressChecker::judge() const {
    return went_back_ + runs_ahead();
}

std::vector<ProgressChecker::Run> ProgressChecker::runs_by_time() const {
    std::vector<Run> runs = runs_;
    std::stable_sort(runs.begin(), runs.end(),
                     [](const Run& a, const Run& b) { return a.at_ms < b.at_ms; });
    return runs;
}

std::string ProgressChecker::runs_ahead() const {
    const std::vector<Run> runs = runs_by_time();
    std::map<std::uint32_t, Prefix> prefixes;
    std::string text;
    auto next = runs.begin();
    for (const Sample& sample : samples_) {
        for (; next != runs.end() && next->at_ms <= sample.at_ms; ++next) {
            prefixes[next->partition].add(next->first, next->last);
        }
        const std::int64_t last = prefixes[sample.stored.partition].last();
        if (sample.stored.sequence <= last) continue;
        text += fmt::format(
            "partition {}: the stored checkpoint {} (epoch {}) is ahead of {}, the last that was "
            "handled by then without a gap\n",
            sample.stored.partition, sample.stored.sequence, sample.stored.epoch, last);
    }
    return text;
}

std::string ProgressChecker::judge_end() const {
    std::map<std::uint32_t, Prefix> prefixes;
    for (const Run& run : runs_) prefixes[run.partition].add(run.first, run.last);
    std::string text;
    for (const auto& [partition, prefix] : prefixes) {
        const auto found = last_.find(partition);
        const std::int64_t stored = found == last_.end() ? -1 : found->second.sequence;
        if (stored == prefix.last()) continue;
        text += fmt::format("partition {}: handled up to {}, but stored up to {}\n", partition,
                            prefix.last(), stored);
    }
    return text;
}

}  // namespace evenkeel::lab
