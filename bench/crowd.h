// Benchmarks of many clients that do little: what each of them costs the hub, and the others.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "bench/report.h"

namespace evenkeel::bench {

// Connections that showed a token and have five links each.
Result<Line> measure_idle_connections(const std::string& folder, std::uint32_t connections);
// Links with credit without end that never read, beside a producer.
Result<Line> measure_slow_consumers(const std::string& folder, std::uint32_t links, double seconds,
                                    std::size_t event_bytes = 1024);

// Connections that attach, begin sessions or show tokens 100,000 times, one after the other, beside
// one that sends.
Result<Line> measure_floods(const std::string& folder);

}  // namespace evenkeel::bench
