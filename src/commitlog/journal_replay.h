// Reading journals: after a start, into the segments that their entries name; and for one segment
// whose sync failed, whose bytes are then only here.
//
//   journal files ──▶ good entries, in order ──▶ written to their segments ──▶ segments synced
//                                                            ──▶ journal files durably removed
//
// Invariants
//   JOURNAL-4  Before a partition is recovered, every entry is in its segment and synced there, and
//              only then the journal is emptied. Running it again after a crash gives the same.
//   JOURNAL-5  An entry goes only into the segment that it names, of an event hub that is there.
//              Nothing is created: what was removed stays removed.
// Threads: any; calls block. Failure: nothing is removed unless all of it was replayed and synced.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "base/task.h"
#include "commitlog/journal_format.h"
#include "io/file.h"

namespace evenkeel::commitlog {

struct Replayed {
    std::uint64_t entries = 0;  // written to their segments
    std::uint64_t skipped = 0;  // their segment or event hub is not there any more
    std::uint64_t bytes = 0;
    std::uint64_t damages = 0;  // places in front of a good entry where there is none
};

// The good entries of a file, in order; of its first `bytes_max` bytes. A file without a good
// header has none. Returns how many damaged places it passed.
Result<std::uint64_t> for_each_entry(io::FileSystem& files, const std::string& path,
                                     std::uint64_t bytes_max,
                                     Callback<Result<>(const JournalEntry&)> take);

inline constexpr const char* journal_suffix = ".journal";

// Replays all journals of a folder, which need not exist, and removes them. `folder_of` gives the
// folder of a partition, none if its event hub is not there.
Result<Replayed> replay_journals(
    io::FileSystem& files, const std::string& directory,
    Callback<std::optional<std::string>(const LogIdentity&)> folder_of);

}  // namespace evenkeel::commitlog
