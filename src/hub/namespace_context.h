// What a namespace and its parts run on; all of it outlives them.
#pragma once

#include <string>
#include <vector>

#include "commitlog/journal_replay.h"
#include "commitlog/writer.h"
#include "io/file.h"
#include "io/loop.h"

namespace evenkeel::hub {

struct NamespaceContext {
    io::FileSystem& files;
    io::Loop& loop;
    std::vector<io::Executor*> disks;  // partitions are dealt out over them
    io::Executor& metadata;            // for changes of what there is
    commitlog::LogMetrics& metrics;
    std::string boot = {};  // which boot of the machine its steady clock belongs to; may be unknown
    std::vector<commitlog::Journal*> journals = {};      // by disk executor; empty: none
    std::vector<commitlog::Unreplayed> unreplayed = {};  // partitions that must not be recovered
};

}  // namespace evenkeel::hub
