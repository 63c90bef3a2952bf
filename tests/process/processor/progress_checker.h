// Judges the checkpoints that a store shows while processors work (GROUP-3): they never go back,
// neither in position nor in epoch, and never run ahead of what was handled by then.
//
//     handled   0 ─────────────▶ 410 ──────▶ 500        (as the processors told, with the time)
//     stored          200           400          500    (as somebody saw who looked now and then)
//
// Threads: handled() one, sampled() one; the rest once both are over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace evenkeel::lab {

struct StoredProgress {
    std::uint32_t partition = 0;
    std::int64_t sequence = -1;  // the last handled event; -1 = none yet
    std::int64_t epoch = 0;
};

class ProgressChecker {
public:
    // Events `first` to `last` of a partition, which begins with 0.
    void handled(std::uint32_t partition, std::int64_t first, std::int64_t last,
                 std::int64_t at_ms);
    // All that the store holds.
    void sampled(const std::vector<StoredProgress>& stored, std::int64_t at_ms);

    // What went back or ran ahead, a line each; "" if nothing did.
    std::string judge() const;
    // After a graceful stop of all: what is not stored although it was handled.
    std::string judge_end() const;
    std::size_t changes_seen() const { return samples_.size(); }

private:
    struct Run {
        std::uint32_t partition;
        std::int64_t first;
        std::int64_t last;
        std::int64_t at_ms;
    };
    struct Sample {
        StoredProgress stored;
        std::int64_t at_ms;
    };

    std::vector<Run> runs_by_time() const;
    std::string runs_ahead() const;

    std::vector<Run> runs_;
    std::vector<Sample> samples_;  // those that showed something new
    std::map<std::uint32_t, StoredProgress> last_;
    std::string went_back_;
};

}  // namespace evenkeel::lab
