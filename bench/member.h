// Processors in a process of their own, for benchmarks. The first line on stdin is the connection
// string, which holds a key.
//
//   count    one processor with a handler that only looks at the numbers; says "ready" once all
//            partitions are open, waits for a line, and after so many events tells
//            "counted SECONDS CPU_SECONDS PEAK_MIB BATCHES"
//   latency  says "ready" once each partition has had an event; told to, forgets what it has seen;
//            at the next line tells "latency EVENTS P50_MS P99_MS MAX_MS"
//   backlog  reads the first events of one partition after the other in the group g0, again and
//            again; says "ready" at the first
//   group    many processors, told by "start N" and "stop N". Tells "open N PARTITION EPOCH NS",
//            "close N PARTITION EPOCH NS", and of each batch
//            "events N PARTITION EPOCH FIRST LAST NS"; the times are instants of this machine
#pragma once

#include <cstdint>
#include <string>

#include "cli/exit_code.h"

namespace evenkeel::bench {

struct MemberOptions {
    std::string mode;
    std::string store;
    std::uint64_t events = 0;  // count: all together; backlog: of each partition
    std::uint32_t partitions = 16;
    bool fast = false;
};
cli::ExitCode run_member_child(const MemberOptions& options);

}  // namespace evenkeel::bench
