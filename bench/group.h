// Lines of `bench processor` about groups of processors: what happens when one is killed, comes or
// goes, in real processes with a hub and a SQLite store.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/report.h"
#include "cli/interrupt.h"

namespace evenkeel::cli {

struct BenchGroupPlace {
    const std::string& folder;
    Interrupt& interrupt;
};

// Three processes of one processor each; one at a time is killed, and replaced once the others have
// what was its.
Result<BenchLine> bench_failover(const BenchGroupPlace& place, bool fast, int kills);
// A second processor comes and goes, until so many partitions have changed hands.
Result<BenchLine> bench_hand_overs(const BenchGroupPlace& place, int hand_overs);
// So many processors, one partition for each, all started at once.
Result<BenchLine> bench_start(const BenchGroupPlace& place, std::uint32_t processors,
                              std::uint32_t processes);

}  // namespace evenkeel::cli
