// What a log and its parts run on; all of it outlives the log.
#pragma once

#include "commitlog/journal.h"
#include "commitlog/log_metrics.h"
#include "io/file.h"
#include "io/loop.h"

namespace evenkeel::commitlog {

struct LogContext {
    io::FileSystem& files;
    io::Loop& loop;
    io::Executor& disk;
    LogMetrics& metrics;
    Journal* journal = nullptr;  // of the disk executor; none: each flush syncs
};

}  // namespace evenkeel::commitlog
