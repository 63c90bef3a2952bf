// The journals of a data folder, one for each disk executor (commitlog/journal.h), in
// `hubs/journal`.
//
//   open: replayed into the segments ──▶ catalogue says that there are journals ──▶ in use
//   close: segments synced ──▶ journals removed ──▶ catalogue says that there are none
//
// While there are journals the catalogue is of version 2, so that a program that knows nothing of
// them refuses the folder instead of leaving out what they hold.
// Ownership: owns the journals; logs and the catalogue are the namespace's.
// Threads: pinned to the hub's loop, but for open(), which blocks; a journal to its disk executor.
// Failure: a partition that does not take its events is not opened; the journal keeps them for the
// next start. A folder whose journals cannot be read, or that has no room for them, is not opened.
// Where no journal can be made, a full disk say, each flush syncs its own segment.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/task.h"
#include "commitlog/journal.h"
#include "commitlog/journal_replay.h"
#include "hub/catalogue.h"
#include "hub/namespace_context.h"
#include "io/file.h"
#include <evenkeel/hub.h>

namespace evenkeel::hub {

struct OpenedJournals {
    std::vector<commitlog::Unreplayed> unreplayed;  // partitions that must not be recovered
    bool usable = false;  // there is a place for journals, and the catalogue says so
};
// Replays what is there, before a partition is recovered (JOURNAL-4), and says in the catalogue
// whether there may be journals from now on.
Result<OpenedJournals> open_journals(io::FileSystem& files, const HubOptions& options,
                                     Catalogue& catalogue);
// Takes the empty folder of journals away, and says so in the catalogue; what fails, because events
// are kept there say, is left as it is. Blocks.
void remove_journals(io::FileSystem& files, const std::string& directory, Catalogue& catalogue);

class Journals {
public:
    // None if `wanted` is false.
    Journals(const NamespaceContext& context, io::FileSystem& files, const HubOptions& options,
             bool wanted);

    // By disk executor; empty if there are none.
    std::vector<commitlog::Journal*> all() const;
    // When all logs are closed: `done` runs on the loop, with whether all of them are gone.
    void close(Callback<void(bool)> done);

private:
    io::Loop& loop_;
    const std::vector<io::Executor*> disks_;
    std::vector<std::shared_ptr<commitlog::Journal>> journals_;
    std::size_t open_ = 0;
    bool all_gone_ = true;
    Callback<void(bool)> closed_;
};

}  // namespace evenkeel::hub
