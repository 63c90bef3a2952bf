// Turns the events of a partition into the demo's reports: runs without a gap, and what no producer
// of this run has made. Threads: one at a time.
#pragma once

#include <cstdint>

#include "demo/report.h"
#include <evenkeel/event.h>

namespace evenkeel::demo {

class Runs {
public:
    Runs(std::uint64_t run, std::uint32_t producers, std::uint32_t partition, std::int64_t epoch)
        : run_(run), producers_(producers), partition_(partition), epoch_(epoch) {}

    void take(const Event& event, std::int64_t now_ms);
    // Reports what was taken and not reported yet.
    void tell_all();

private:
    const std::uint64_t run_;
    const std::uint32_t producers_;
    const std::uint32_t partition_;
    const std::int64_t epoch_;
    Report open_;
};

}  // namespace evenkeel::demo
