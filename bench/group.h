// Lines of `bench processor` about groups of processors: what happens when one is killed, comes or
// goes, in real processes with a hub and a SQLite store.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/report.h"
#include "cli/interrupt.h"

namespace evenkeel::bench {

struct GroupPlace {
    const std::string& folder;
    cli::Interrupt& interrupt;
};

// How a processor ends: by SIGKILL, which closes its connections, or by SIGSTOP, which closes
// nothing, as a machine that is cut off.
enum class Fall : unsigned char { killed, stopped };
std::string failover_name(bool fast, Fall fall);
// Three processes of one processor each; one at a time falls, and is replaced once the others have
// what was its.
Result<Line> measure_failover(const GroupPlace& place, bool fast, Fall fall, int falls);
// A second processor starts and stops, until so many partitions have been handed over.
Result<Line> measure_hand_overs(const GroupPlace& place, int hand_overs);
// So many processors, one partition for each, all started at once.
Result<Line> measure_start(const GroupPlace& place, std::uint32_t processors,
                           std::uint32_t processes);

}  // namespace evenkeel::bench
