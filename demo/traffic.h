// What the demo's threads count while they run, for the live view. Threads: any.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/metrics.h"
#include "cli/latencies.h"

namespace evenkeel::demo {

struct PartitionTraffic {
    Counter sent;
    Counter durable;  // acknowledged
    Counter read;
    Counter refused;
    cli::Latencies acknowledged_after;
    std::atomic<std::int64_t> read_up_to{-1};  // sequence number of the last event read
    std::atomic<std::int64_t> checkpoint{-1};  // up to where progress is stored
    std::atomic<std::int64_t> epoch{0};
    std::atomic<int> owner{-1};  // the number of the process that read last
};

struct Traffic {
    explicit Traffic(std::uint32_t partition_count) : partitions(partition_count) {}
    std::vector<PartitionTraffic> partitions;
    std::atomic<bool> failed{false};  // a producer or a reader cannot go on
};

}  // namespace evenkeel::demo
