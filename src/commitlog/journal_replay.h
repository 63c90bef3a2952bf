// Reading journals: after a start, into the segments that their entries name; and for one segment
// whose sync failed, whose bytes are then only here.
//
//   journal files ──▶ good entries, in order ──▶ written to their segments ──▶ segments synced
//          ──▶ entries of partitions that refused them kept in `kept-1.journal`, synced
//          ──▶ the other journal files durably removed
//
// Invariants
//   JOURNAL-4  Before a partition is recovered, every entry of it is in its segment and synced
//              there; only then the journal lets go of them. Running it again after a crash gives
//              the same. A partition whose segments refuse an entry keeps all of its entries in a
//              journal, and must not be recovered: it would be cut, or lose its end as damage.
//   JOURNAL-5  An entry goes only into the segment that it names, of an event hub that is there.
//              Nothing is created: what was removed stays removed.
// Threads: any; calls block. Failure: nothing is removed unless all of it was replayed and synced,
// or kept. A full disk fails all of it; any other error only its partition. A file without a good
// header is reported, and removed: no entry of it can be told from an older one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/task.h"
#include "commitlog/journal_format.h"
#include "io/file.h"

namespace evenkeel::commitlog {

// A partition that does not take its entries, and why. They are kept.
struct Unreplayed {
    LogIdentity identity;
    Error error;
};

struct Replayed {
    std::uint64_t entries = 0;  // written to their segments
    std::uint64_t skipped = 0;  // their segment or event hub is not there any more
    std::uint64_t bytes = 0;
    std::uint64_t damages = 0;  // places in front of a good entry where there is none, and headers
    std::vector<Unreplayed> unreplayed;
};

// The first `bytes_max` bytes of a file, and its header; none if no copy of it is good.
struct JournalContent {
    std::vector<std::byte> bytes;
    std::optional<JournalHeader> header;
};
Result<JournalContent> read_journal(io::FileSystem& files, const std::string& path,
                                    std::uint64_t bytes_max);

// The good entries of it, in order; none without a header.
struct JournalWalk {
    std::uint64_t damages = 0;  // places in front of a good entry where there is none
    std::uint64_t end = 0;      // behind the last good entry
};
Result<JournalWalk> for_each_entry(const JournalContent& content,
                                   Callback<Result<>(const JournalEntry&)> take);

inline constexpr const char* journal_suffix = ".journal";

// Replays all journals of a folder, which need not exist, and removes them. `folder_of` gives the
// folder of a partition, none if its event hub is not there. `unsupported`, before anything is
// changed, if a newer version of Evenkeel wrote one of them.
Result<Replayed> replay_journals(
    io::FileSystem& files, const std::string& directory,
    Callback<std::optional<std::string>(const LogIdentity&)> folder_of);

}  // namespace evenkeel::commitlog
