// What processors of a group reported as handled, and what it says of them: each partition by one
// owner at a time, in order, and what was handled twice, by cause.
//
//     partition 3   epoch 1 (a): 0 ... 5210 ✝ killed      epoch 2 (b): 5100 ... 9000 ─▶ epoch 3 (c)
//                                     └── 111 repeated at the crash ──┘      hand-over: none may
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace evenkeel::demo {

// One batch that one processor handled.
struct HandledBatch {
    std::uint32_t processor = 0;
    std::uint32_t partition = 0;
    std::int64_t epoch = 0;
    std::int64_t first = -1;
    std::int64_t last = -1;
    std::int64_t at_ms = 0;
};

class Handled {
public:
    struct Summary {
        std::uint64_t out_of_order = 0;
        std::uint64_t repeated_at_crash = 0;
        std::uint64_t repeated_at_handover = 0;
        std::uint64_t handovers = 0;
        // Owners that began to handle something after their successor had.
        std::uint64_t past_fence = 0;
        // Of all partitions whose owner was killed, how long the slowest was not handled; none if
        // there was no such partition, or one of them has not come back.
        std::optional<double> failover_seconds;
        double handover_gap_seconds_max = 0;
    };

    void add(const HandledBatch& batch);
    // That processor was killed at that time, not asked to stop.
    void killed(std::uint32_t processor, std::int64_t at_ms);

    Summary summary() const;

private:
    struct Reign {
        std::uint32_t processor = 0;
        std::int64_t first = -1;
        std::int64_t last = -1;
        std::int64_t first_ms = 0;
        std::int64_t last_ms = 0;
    };
    using Reigns = std::map<std::int64_t, Reign>;  // by epoch

    std::map<std::uint32_t, Reigns> partitions_;
    std::map<std::uint32_t, std::int64_t> killed_;
    std::uint64_t out_of_order_ = 0;
};

}  // namespace evenkeel::demo
