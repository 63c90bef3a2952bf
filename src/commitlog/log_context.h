// What a log and its parts run on; all of it outlives the log.
#pragma once

#include "commitlog/writer.h"
#include "io/file.h"
#include "io/loop.h"

namespace evenkeel::commitlog {

struct LogContext {
    io::FileSystem& files;
    io::Loop& loop;
    io::Executor& disk;
    LogMetrics& metrics;
};

}  // namespace evenkeel::commitlog
