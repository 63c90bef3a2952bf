// Opening a partition's folder after whatever happened to it.
//
// What was acknowledged is there; what was written but never acknowledged may go, whole batches at
// a time; damage is told apart from a torn tail by proof, not by guess:
//
//   ... sealed segments ...|=== durable by proof ===|~~ one flush, perhaps torn ~~|  end of file
//                          base of the last segment  proof
//
// Proof is the highest of: the mark's end, the last segment's base (a segment is created only after
// the one before was synced), and the `synced` field of any good record (LOG-17). A bad record
// below the proof was good once: that is damage, it is reported and kept (LOG-7). A bad record
// above it belongs to a flush that was never acknowledged: the log is cut at the beginning of its
// batch. What is kept above the proof is written again and synced before anyone sees it, because a
// failed sync may have left it in the page cache only (LOG-6).
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "commitlog/index.h"
#include "commitlog/mark.h"
#include "commitlog/read.h"
#include "commitlog/segment.h"

namespace evenkeel::commitlog {

struct LogIdentity {
    Incarnation incarnation{};
    PartitionId partition;
    std::uint32_t seed() const { return checksum_seed(incarnation, partition); }
};

struct RecoveredSegment {
    SegmentName name;
    std::uint32_t last_record_bytes = 0;
    WallTime floor_time{0};
    bool floor_known = true;  // false if the header is damaged
    bool lost = false;        // the mark tells of it, but the file is gone
};

struct Recovered {
    std::vector<RecoveredSegment> segments;  // by offset; the last one takes the next append
    Mark mark;                               // as it is on disk now
    std::vector<IndexEntry> index;           // of the last segment
    std::vector<Damage> damages;             // met on the way; more may be found by reading
    std::vector<std::string> odd_files;      // not ours, or out of place: left alone
    std::uint64_t bytes_cut = 0;
};

// Makes a partition's folder, which must not exist, with an empty log in it, and tells what
// recover() would find. All of it durable, but for the folder's own name in its parent, and the
// content of the mark: an empty log needs none (LOG-11).
Result<Recovered> create_log(io::FileSystem& files, const std::string& directory,
                             const LogIdentity& identity);

// Blocks. `unsupported`, before anything is changed, if a newer version of Evenkeel wrote a segment
// or the mark. Running it again, after a crash in the middle of it too, gives the same log.
Result<Recovered> recover(io::FileSystem& files, const std::string& directory,
                          const LogIdentity& identity, std::uint64_t index_distance);

}  // namespace evenkeel::commitlog
