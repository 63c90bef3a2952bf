#include "hub/journals.h"

#include <algorithm>

#include "base/log.h"
#include "base/random.h"
#include "hub/data_folder.h"

namespace evenkeel::hub {
namespace {

// The folder of a partition that the catalogue has; none of one that was removed.
std::optional<std::string> folder_of(const Catalogue& catalogue, const std::string& directory,
                                     const commitlog::LogIdentity& identity) {
    const auto found = std::find_if(
        catalogue.event_hubs.begin(), catalogue.event_hubs.end(),
        [&](const EventHubRecord& hub) { return hub.incarnation == identity.incarnation; });
    if (found == catalogue.event_hubs.end() || identity.partition.value >= found->partitions) {
        return std::nullopt;
    }
    return partition_path(directory, identity.incarnation, identity.partition);
}

Result<> make_folder(io::FileSystem& files, const std::string& directory, Catalogue& catalogue) {
    const auto made = files.make_directory(journals_path(directory));
    if (!made.ok() && made.error().code != ErrorCode::already_exists) return made.error();
    EK_TRY(files.sync_directory(hubs_path(directory)));
    if (catalogue.journals) return {};
    Catalogue next = catalogue;
    next.journals = true;
    next.generation += 1;
    auto saved = save_catalogue(files, directory, next);
    // What reached the disk of it is not known; a newer generation wins over it.
    catalogue.generation = next.generation;
    if (saved.ok()) catalogue.journals = true;
    return saved;
}

}  // namespace

Result<OpenedJournals> open_journals(io::FileSystem& files, const HubOptions& options,
                                     Catalogue& catalogue) {
    EK_TRY_ASSIGN(auto replayed, commitlog::replay_journals(
                                     files, journals_path(options.directory),
                                     [&](const commitlog::LogIdentity& identity) {
                                         return folder_of(catalogue, options.directory, identity);
                                     }));
    if (replayed.entries + replayed.skipped + replayed.damages > 0) {
        // Left out: events that a purge, retention or the removal of an event hub took away.
        trace(TraceLevel::info, "journals were replayed",
              {{"entries", std::to_string(replayed.entries)},
               {"bytes", std::to_string(replayed.bytes)},
               {"left_out_as_removed", std::to_string(replayed.skipped)},
               {"damaged_places", std::to_string(replayed.damages)}});
    }
    OpenedJournals opened{std::move(replayed.unreplayed)};
    if (!options.sync_to_disk) {
        if (catalogue.journals) remove_journals(files, options.directory, catalogue);
        return opened;
    }
    const auto made = make_folder(files, options.directory, catalogue);
    opened.usable = made.ok();
    if (!made.ok()) {
        trace(TraceLevel::warning, "no journal can be made; each partition syncs by itself",
              {{"cause", made.error().detail}});
    }
    return opened;
}

void remove_journals(io::FileSystem& files, const std::string& directory, Catalogue& catalogue) {
    const auto removed = files.remove(journals_path(directory));
    if (!removed.ok() && removed.error().code != ErrorCode::not_found) return;
    if (!files.sync_directory(hubs_path(directory)).ok()) return;
    Catalogue next = catalogue;
    next.journals = false;
    next.generation += 1;
    if (save_catalogue(files, directory, next).ok()) catalogue = std::move(next);
}

Journals::Journals(const NamespaceContext& context, io::FileSystem& files,
                   const HubOptions& options, bool wanted)
    : loop_(context.loop), disks_(context.disks) {
    if (!wanted) return;
    for (std::size_t i = 0; i < disks_.size(); ++i) {
        commitlog::JournalOptions journal;
        journal.directory = journals_path(options.directory);
        journal.name = std::to_string(i);
        secure_bytes(journal.nonce);
        journals_.push_back(std::make_shared<commitlog::Journal>(
            commitlog::JournalContext{files, *disks_[i], context.metadata, loop_.clock(),
                                      context.metrics},
            std::move(journal)));
    }
}

std::vector<commitlog::Journal*> Journals::all() const {
    std::vector<commitlog::Journal*> all;
    for (const auto& journal : journals_) all.push_back(journal.get());
    return all;
}

void Journals::close(Callback<void(bool)> done) {
    loop_.check_here();
    if (journals_.empty()) return done(false);
    closed_ = std::move(done);
    open_ = journals_.size();
    for (std::size_t i = 0; i < journals_.size(); ++i) {
        disks_[i]->post([this, journal = journals_[i]] {
            journal->close([this](const Result<>& result) {
                loop_.post([this, ok = result.ok()] {
                    all_gone_ = all_gone_ && ok;
                    if (--open_ == 0) closed_(all_gone_);
                });
            });
        });
    }
}

}  // namespace evenkeel::hub
