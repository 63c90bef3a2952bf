// What all logs of a hub count together. Threads: any.
#pragma once

#include "base/metrics.h"

namespace evenkeel::commitlog {

struct LogMetrics {
    explicit LogMetrics(Metrics& metrics);
    Counter& events;
    Counter& bytes;
    Counter& syncs;
    Counter& failures;
    Counter& damages;
    Histogram& queue_time;
    Histogram& write_time;
    Histogram& sync_time;
};

}  // namespace evenkeel::commitlog
