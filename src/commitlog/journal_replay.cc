#include "commitlog/journal_replay.h"

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "base/canary.h"
#include "base/log.h"

namespace evenkeel::commitlog {
namespace {

// Far more than a journal file has: a size above it is damage, not one to allocate.
constexpr std::uint64_t journal_bytes_max = std::uint64_t{1} << 30;

// The segments that a replay writes to, each opened once.
class ReplayedSegments {
public:
    explicit ReplayedSegments(io::FileSystem& files) : files_(files) {}

    // False if the segment is not there any more.
    Result<bool> write(const std::string& folder, const JournalEntry& entry) {
        const std::string path = folder + "/" + log_name(entry.place.segment);
        auto found = open_.find(path);
        if (found == open_.end()) {
            auto file = files_.open(path, io::OpenMode::write);
            if (!file.ok() && EK_CANARY(replay_removed)) {
                file = files_.open(path, io::OpenMode::create);
            }
            if (!file.ok() && file.error().code != ErrorCode::not_found) return file.error();
            found = open_.emplace(path, file.ok() ? std::move(*file) : nullptr).first;
        }
        if (!found->second) return false;
        EK_TRY(found->second->write(file_position(entry.place.segment.base, entry.place.from),
                                    entry.bytes));
        return true;
    }

    Result<> sync() {
        for (const auto& [path, file] : open_) {
            if (file) EK_TRY(file->sync());
        }
        return {};
    }

private:
    io::FileSystem& files_;
    std::map<std::string, std::unique_ptr<io::File>> open_;  // null: not there
};

Result<std::vector<std::string>> journal_files(io::FileSystem& files,
                                               const std::string& directory) {
    std::vector<std::string> paths;
    const auto entries = files.list(directory);
    if (!entries.ok()) {
        if (entries.error().code == ErrorCode::not_found) return paths;
        return entries.error();
    }
    for (const auto& entry : *entries) {
        if (!entry.is_directory && entry.name.ends_with(journal_suffix)) {
            paths.push_back(directory + "/" + entry.name);
        } else {
            trace(TraceLevel::warning, "not a journal, left alone: move it away",
                  {{"file", directory + "/" + entry.name}});
        }
    }
    return paths;
}

// Nothing is lost by it, and people should know.
Error not_replayed(const Error& error) {
    const bool full = error.code == ErrorCode::overloaded;
    return {error.code, "events of a journal cannot be written to their partition; " +
                            std::string(full ? "make room on the disk" : "mend the disk") +
                            " and start again, nothing is lost: " + error.detail};
}

}  // namespace

Result<std::uint64_t> for_each_entry(io::FileSystem& files, const std::string& path,
                                     std::uint64_t bytes_max,
                                     Callback<Result<>(const JournalEntry&)> take) {
    EK_TRY_ASSIGN(const auto file, files.open(path, io::OpenMode::read));
    EK_TRY_ASSIGN(const std::uint64_t size, file->size());
    std::vector<std::byte> content(std::min({size, bytes_max, journal_bytes_max}));
    EK_TRY_ASSIGN(const std::size_t got, file->read(0, content));
    const ByteView bytes(content.data(), got);
    EK_TRY_ASSIGN(const auto header, decode_journal_header(bytes, path));
    std::uint64_t damages = 0;
    if (!header) return damages;
    // Behind a bad place the next good entry counts: it was acknowledged by itself. What follows
    // the last one is a torn group, or the remains of an earlier generation.
    bool passing = false;
    for (std::size_t at = journal_entries_at; at + journal_entry_header_bytes <= got;) {
        const auto entry = decode_journal_entry(bytes.subspan(at), *header);
        if (!entry) {
            passing = true;
            at += 8;
            continue;
        }
        damages += passing;
        passing = false;
        EK_TRY(take(*entry));
        at += journal_entry_header_bytes + entry->bytes.size();
    }
    return damages;
}

Result<Replayed> replay_journals(
    io::FileSystem& files, const std::string& directory,
    Callback<std::optional<std::string>(const LogIdentity&)> folder_of) {
    Replayed replayed;
    EK_TRY_ASSIGN(const auto paths, journal_files(files, directory));
    if (paths.empty()) return replayed;
    ReplayedSegments segments(files);
    for (const auto& path : paths) {
        EK_TRY_ASSIGN(const std::uint64_t damages,
                      for_each_entry(files, path, journal_bytes_max,
                                     [&](const JournalEntry& entry) -> Result<> {
                                         const auto folder = folder_of(entry.place.identity);
                                         bool written = false;
                                         if (folder) {
                                             const auto done = segments.write(*folder, entry);
                                             if (!done.ok()) return not_replayed(done.error());
                                             written = *done;
                                         }
                                         replayed.entries += written;
                                         replayed.skipped += !written;
                                         if (written) replayed.bytes += entry.bytes.size();
                                         return {};
                                     }));
        replayed.damages += damages;
        if (damages > 0) {
            // A power loss may have torn the last group so that a later entry of it is whole.
            trace(TraceLevel::warning, "a journal was torn, or is damaged, before its last entry",
                  {{"file", path}, {"places", std::to_string(damages)}});
        }
    }
    if (const auto synced = segments.sync(); !synced.ok()) return not_replayed(synced.error());
    for (const auto& path : paths) EK_TRY(files.remove(path));
    EK_TRY(files.sync_directory(directory));
    return replayed;
}

}  // namespace evenkeel::commitlog
