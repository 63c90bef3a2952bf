// What processors of a group reported as handled, and what it says of them: nothing lost, nothing
// out of order, and what was handled twice, by cause.
//
//     partition 3   epoch 1 (a): 0 ... 5210 ✝ killed      epoch 2 (b): 5100 ... 9000 ─▶ epoch 3 (c)
//                                     └── 111 repeated at the crash ──┘      hand-over: none may
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

namespace evenkeel::cli {

// One batch that one processor handled.
struct HandledBatch {
    std::uint32_t processor = 0;
    std::uint32_t partition = 0;
    std::int64_t epoch = 0;
    std::int64_t first = -1;
    std::int64_t last = -1;
    std::uint64_t wrong = 0;  // events that are not what was sent
    std::int64_t at_ms = 0;
};

// "partition epoch first last wrong milliseconds", as `evenkeel process` reports it; none if it is
// something else.
std::optional<HandledBatch> parse_handled(std::string_view line, std::uint32_t processor);

class Handled {
public:
    struct Summary {
        std::uint64_t handled = 0;  // each event once
        std::uint64_t out_of_order = 0;
        std::uint64_t wrong = 0;
        std::uint64_t repeated_at_crash = 0;
        std::uint64_t repeated_at_handover = 0;
        std::uint64_t handovers = 0;
        // Of all partitions whose owner was killed, how long the slowest was not handled; none if
        // there was no such partition, or one of them has not come back.
        std::optional<double> failover_seconds;
        double handover_gap_seconds_max = 0;
    };

    void add(const HandledBatch& batch);
    // That processor was killed at that time, and none was told to stop.
    void killed(std::uint32_t processor, std::int64_t at_ms);

    // Who handled the partition last, and how far it came.
    struct Owner {
        std::uint32_t processor = 0;
        std::int64_t epoch = 0;
        std::int64_t last = -1;
        std::int64_t at_ms = 0;
    };
    std::optional<Owner> owner(std::uint32_t partition) const;
    // How many of the first `count` events of a partition nobody has handled.
    std::uint64_t missing(std::uint32_t partition, std::int64_t count) const;
    Summary summary() const;

private:
    struct Reign {
        std::uint32_t processor = 0;
        std::int64_t first = -1;
        std::int64_t last = -1;
        std::int64_t first_ms = 0;
        std::int64_t last_ms = 0;
    };
    struct PartitionHistory {
        std::map<std::int64_t, Reign> reigns;            // by epoch
        std::map<std::int64_t, std::int64_t> intervals;  // handled, first to last, disjoint
    };

    static void cover(std::map<std::int64_t, std::int64_t>& intervals, std::int64_t first,
                      std::int64_t last);

    std::map<std::uint32_t, PartitionHistory> partitions_;
    std::map<std::uint32_t, std::int64_t> killed_;
    std::uint64_t out_of_order_ = 0;
    std::uint64_t wrong_ = 0;
};

}  // namespace evenkeel::cli
