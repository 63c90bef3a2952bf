// The disk side of a log: carries out flushes and removals, one at a time, where blocking is
// allowed. It decides nothing; the log's loop plans, the writer acts and tells how far it came.
//
// Invariants
//   LOG-12  What flush() reports as done is on stable storage: bytes, framing, and for a new
//           segment its name (LOG-2). A small flush is there in the journal until its segment is
//           synced too (commitlog/journal.h). With Durability::os it is in the page cache.
//   LOG-13  A segment is created only after the one before it was synced.
//   LOG-14  The mark is written after the sync it speaks of, of the segment or of the journal;
//           before a removal it is synced (LOG-9, LOG-10).
//   LOG-15  After a failure the file is cut back to what was durable, as far as the disk lets us,
//           and takes nothing more: the stream goes on in a new segment.
// Threads: made on any; then pinned to the log's disk executor, which is the journal's as well.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/task.h"
#include "commitlog/index.h"
#include "commitlog/journal.h"
#include "commitlog/log_metrics.h"
#include "commitlog/mark.h"
#include "commitlog/segment.h"
#include "commitlog/tail.h"
#include "io/file.h"

namespace evenkeel::commitlog {

enum class Durability : std::uint8_t {
    disk,  // acknowledged after fdatasync: survives power loss
    os,    // acknowledged in the page cache: survives the process, not the machine
};

struct FlushPart {
    SegmentHeader header;  // of the segment that takes the pieces
    bool create = false;   // it does not exist yet
    Offset from;           // where the pieces begin
    std::vector<Tail::Piece> pieces;
    std::vector<IndexEntry> index;  // entries for records in the pieces
};

struct Flush {
    std::vector<FlushPart> parts;
    Mark mark;  // how things stand when all parts are done
};

struct FlushOutcome {
    Instant began;
    std::size_t parts_done = 0;
    Result<> result;
};

class Writer {
public:
    // `journal` takes small flushes; none: each flush syncs its segment.
    Writer(io::FileSystem& files, const Clock& clock, std::string directory,
           const LogIdentity& identity, Durability durability, LogMetrics& metrics,
           Journal* journal = nullptr);

    // Opens the segment that takes the next append, and the mark. `index_entries` are in its index.
    Result<> open(const SegmentName& active, std::size_t index_entries);
    // `done` runs on the disk executor, later if the journal takes the flush. The flush and the
    // writer outlive it; the next one comes after it.
    void flush(const Flush& flush, Callback<void(FlushOutcome)> done);
    // Moves the mark, durably, then removes the segments. What a failure leaves goes with the next
    // removal.
    Result<> remove(const std::vector<SegmentName>& segments, const Mark& mark);
    Result<> save(const Mark& mark);

private:
    Result<> settle();
    void flush_to_journal(const Flush& flush, FlushOutcome outcome,
                          Callback<void(FlushOutcome)> done);
    void note_active(const SegmentName& name);
    void cut_back(const FlushPart& part);
    Mark raised(Mark mark);
    Result<> put_mark(const Mark& mark);
    Result<> write_part(const FlushPart& part);
    Result<> create_segment(const FlushPart& part);
    Result<> write_pieces(const FlushPart& part);
    Result<> sync_active();
    void note_journaled(const Flush& flush);
    void write_index(const FlushPart& part);

    io::FileSystem& files_;
    const Clock& clock_;
    const std::string directory_;
    const LogIdentity identity_;
    const std::uint32_t seed_;
    const Durability durability_;
    LogMetrics& metrics_;
    Journal* const journal_;
    Duration sync_time_{};  // of the flush under way
    std::unique_ptr<io::File> active_;
    std::shared_ptr<JournaledSegment> segment_;  // the same for the journal; none without one
    std::unique_ptr<io::File> index_;
    std::unique_ptr<io::File> mark_;
    std::size_t index_entries_ = 0;
    std::vector<std::byte> index_bytes_;      // kept for its capacity
    std::optional<std::uint64_t> torn_slot_;  // of the mark: its last write failed
    std::vector<SegmentName> leaving_;        // to be removed
    Mark highest_;                            // the highest end and the newest start so far
};

}  // namespace evenkeel::commitlog
