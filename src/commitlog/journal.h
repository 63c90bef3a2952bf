// One sync for many partitions: small flushes of all partitions of a disk executor are written to
// their segments without a sync, and once more, together, to a journal that is synced.
//
//   flush ─▶ segment written ─┐
//   flush ─▶ segment written ─┼▶ one write, one sync of the journal ─▶ all acknowledged
//   flush ─▶ segment written ─┘                  │
//                        file full ─▶ its segments synced in the background ─▶ file used again
//
// Two files take turns. While both are full, flushes sync their segments themselves. Zeros are
// written and synced ahead of the entries, in the background; while that falls behind, flushes sync
// their segments themselves too.
//
// Invariants (JOURNAL-4 and JOURNAL-5 are in commitlog/journal_replay.h)
//   JOURNAL-1  An entry is acknowledged after a sync of the journal that covers it.
//   JOURNAL-2  A file is used again only when each segment with bytes in it was synced since. The
//              files are settled one after the other: a sync that failed for one is known before
//              the same segment is synced for the other one, where it would seem to succeed.
//   JOURNAL-3  What a failed write or sync of the journal carried is refused. Nothing more is
//              acknowledged, by the journal or past it, until all segments are synced and the
//              files durably gone: a refused batch is never replayed over what took its place.
//              If that fails it is tried once a second.
//   JOURNAL-6  When the sync of a segment fails, what of it lies in the journal is written anew
//              from there before the journal lets go of it (LOG-6). A journal in which some of
//              it is damaged does not let go.
//   JOURNAL-7  A group is written over zeros that are durable already: it never makes its file
//              grow, so that it needs no room on the disk and its sync is a quick one.
// Ownership: shared by the tasks that it posts. The context outlives it.
// Threads: made on any; then pinned to its disk executor. On `background` files grow, and segments
// of full files are written anew and synced, for which it reads the journal's files.
// Format: docs/formats/journal.md.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/task.h"
#include "commitlog/journal_format.h"
#include "commitlog/log_metrics.h"
#include "commitlog/tail.h"
#include "io/file.h"
#include "io/loop.h"

namespace evenkeel::commitlog {

// A segment as its writer and the journal know it: how much of it is only in the journal. Its path
// may be read on any thread, the rest on the disk executor only.
struct JournaledSegment {
    // Counts that only rise.
    struct Progress {
        std::uint64_t flushes = 0;   // that went to the journal
        std::uint64_t failures = 0;  // syncs of the segment that failed
    };

    JournaledSegment(std::string folder, const LogIdentity& whose, const SegmentName& which)
        : directory(std::move(folder)), identity(whose), name(which) {}

    // Bytes of it may be in the journal only.
    bool is_dirty() const { return settled.flushes < reached.flushes || is_suspect(); }
    // A sync failed: only writing those bytes anew helps.
    bool is_suspect() const { return settled.failures < reached.failures; }
    // It was synced, or written anew and synced, when it had come so far.
    void settle(const Progress& at);
    // A sync of it by its writer has ended so.
    void note_sync(bool ok);

    const std::string directory;
    const LogIdentity identity;
    const SegmentName name;
    Progress reached;
    Progress settled;
    std::uint64_t generation = 0;  // of the journal file with its last entry
};

struct JournalOptions {
    std::string directory;  // exists
    std::string name;       // of this journal's files, before a letter and ".journal"
    JournalNonce nonce{};   // drawn for each start
    std::uint64_t file_bytes_max = std::uint64_t{32} << 20;
    std::size_t entry_bytes_max = journal_entry_bytes_max;  // more is better synced by itself
    std::size_t group_bytes_max = std::size_t{1} << 20;     // of one write
    // Room of a new file. It doubles before it is used up, by at most 16 times as much at once.
    std::uint64_t growth_bytes = std::uint64_t{256} << 10;
};

struct JournalContext {
    io::FileSystem& files;
    io::Executor& disk;
    io::Executor& background;
    const Clock& clock;
    LogMetrics& metrics;
};

class Journal : public std::enable_shared_from_this<Journal> {
public:
    using Done = Callback<void(const Result<>&)>;

    Journal(const JournalContext& context, JournalOptions options);

    // Before every flush. Whether the journal takes its `bytes`; if not, the flush syncs its
    // segment itself. Fails if nothing may be acknowledged (JOURNAL-3).
    Result<bool> prepare(std::uint64_t bytes);
    // After prepare() said yes: the pieces, which are in the segment from `from` on. `done` runs on
    // the disk executor when they are durable or refused. If durable, `afterwards` runs when all
    // that share the sync were answered, for what nobody waits for; `done` is kept until then.
    void add(std::shared_ptr<JournaledSegment> segment, Offset from,
             const std::vector<Tail::Piece>& pieces, Done done, Task afterwards);
    // Makes the segment durable in itself; `file` is its writer's.
    Result<> settle(JournaledSegment& segment, io::File& file);
    // About once a second, for when no flush comes: tries again what failed in the background.
    void tend();
    // When no log uses it any more: syncs all segments and removes the files; blocks, but for a
    // sync in the background. What fails is left for the next start to replay.
    void close(Done done);

private:
    enum class State : std::uint8_t { unused, filling, full, settling };
    struct JournalFile {
        std::string path;
        std::unique_ptr<io::File> file;
        State state = State::unused;
        JournalHeader header;
        std::uint64_t end = 0;   // behind the last group that was synced
        std::uint64_t room = 0;  // how far it is durable, with the zeros written ahead
        std::vector<std::shared_ptr<JournaledSegment>> segments;  // with entries in it
        Duration pause{};  // after the last failure to sync them; 0: none failed
        Instant retry_at{};
    };
    struct Waiting {
        std::shared_ptr<JournaledSegment> segment;
        Done done;
        Task afterwards;
    };
    struct Settling;

    Result<> mend();
    Result<> try_to_mend();
    Result<> settle_all();
    Result<> remove_files();
    bool has_room(std::uint64_t bytes) const;
    bool is_whole(const JournalFile& file) const { return file.room == options_.file_bytes_max; }
    bool start_file();
    Result<> create_file(JournalFile& file);
    Result<> make_file(JournalFile& file);
    void leave_file();
    void grow_ahead();
    void grow_in_background(JournalFile& file);
    void finish_growth(JournalFile& file, std::uint64_t room, const Result<>& result);
    void settle_in_background(JournalFile& file);
    void settle_next(std::shared_ptr<Settling> settling);
    void finish_settling(Settling& settling);
    void finish_close_if_idle();
    void commit();
    Result<> write_group();
    // What of the files may be read to write a segment anew.
    struct Extent {
        std::string path;
        std::uint64_t bytes = 0;  // up to the end of the last group that was synced
        std::uint64_t generation = 0;
    };
    std::vector<Extent> extents() const;
    static Result<> make_durable(io::FileSystem& files, const std::vector<Extent>& extents,
                                 const JournaledSegment& segment, bool is_suspect);
    void check_state() const;

    const JournalContext context_;
    const JournalOptions options_;
    std::array<JournalFile, 2> files_;
    JournalFile* current_ = nullptr;
    std::uint64_t generation_ = 0;
    std::vector<std::byte> group_;  // what the next write takes
    std::vector<Waiting> waiting_;  // for it
    bool commit_posted_ = false;
    bool failed_ = false;  // nothing may be acknowledged until mend()
    Instant mend_at_{};    // not before
    bool growing_ = false;
    bool settling_ = false;    // a file; the other one waits (JOURNAL-2)
    Duration growth_pause_{};  // after the last failure to make or grow a file; 0: none failed
    Instant grow_at_{};        // not before
    std::size_t in_background_ = 0;
    Done closed_;
};

}  // namespace evenkeel::commitlog
