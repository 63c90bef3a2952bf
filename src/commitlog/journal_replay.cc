#include "commitlog/journal_replay.h"

#include <algorithm>
#include <map>
#include <memory>

#include <fmt/core.h>

#include "base/canary.h"
#include "base/log.h"

namespace evenkeel::commitlog {
namespace {

// Far more than a journal file has: a size above it is damage, not one to allocate.
constexpr std::uint64_t journal_bytes_max = std::uint64_t{1} << 30;
// Of files with the entries of partitions that refused them.
constexpr std::string_view kept_prefix = "kept-";

using FolderOf = Callback<std::optional<std::string>(const LogIdentity&)>;

// One replay; the steps of replay_journals() in order.
class Replay {
public:
    Replay(io::FileSystem& files, const std::string& directory, FolderOf folder_of)
        : files_(files), directory_(directory), folder_of_(std::move(folder_of)) {}

    Result<Replayed> run();

private:
    struct Journal {
        std::string name;
        bool stays = false;
    };
    struct Segment {
        LogIdentity identity;
        std::unique_ptr<io::File> file;  // none: not there
    };
    using Key = std::pair<Incarnation, std::uint32_t>;
    static Key key_of(const LogIdentity& identity) {
        return {identity.incarnation, identity.partition.value};
    }

    Result<> list_files();
    Result<> check_versions();
    Result<> replay(const std::string& path);
    Result<> take(const JournalEntry& entry);
    Result<bool> write(const std::string& folder, const JournalEntry& entry);
    Result<> sync_segments();
    Result<> fail(const LogIdentity& identity, const Error& error);
    Result<> keep_refused();
    Result<> keep_refused_of(Journal& journal);
    std::string free_name() const;
    Result<> remove_files();
    std::string path_of(const std::string& name) const { return directory_ + "/" + name; }

    io::FileSystem& files_;
    const std::string& directory_;
    FolderOf folder_of_;
    std::vector<Journal> journals_;
    std::map<std::string, Segment> segments_;  // by path, each opened once
    std::map<Key, Error> failed_;              // partitions that do not take their entries
    std::vector<std::string> kept_;            // names of files that were made for them
    Replayed result_;
};

Result<Replayed> Replay::run() {
    EK_TRY(list_files());
    if (journals_.empty()) return std::move(result_);
    EK_TRY(check_versions());
    for (const auto& journal : journals_) EK_TRY(replay(path_of(journal.name)));
    EK_TRY(sync_segments());
    if (!failed_.empty()) EK_TRY(keep_refused());
    EK_TRY(remove_files());
    return std::move(result_);
}

Result<> Replay::list_files() {
    const auto entries = files_.list(directory_);
    if (!entries.ok()) {
        if (entries.error().code == ErrorCode::not_found) return {};
        return entries.error();
    }
    for (const auto& entry : *entries) {
        if (!entry.is_directory && entry.name.ends_with(journal_suffix)) {
            journals_.push_back({entry.name});
        } else {
            trace(TraceLevel::warning, "not a journal, left alone: move it away",
                  {{"file", path_of(entry.name)}});
        }
    }
    return {};
}

Result<> Replay::check_versions() {
    for (const auto& journal : journals_) {
        const auto read = read_journal(files_, path_of(journal.name), journal_entries_at);
        if (!read.ok()) return read.error();
    }
    return {};
}

Result<> Replay::replay(const std::string& path) {
    EK_TRY_ASSIGN(const auto content, read_journal(files_, path, journal_bytes_max));
    if (!content.header) {
        // Torn when the file was first used, with nothing in it that was acknowledged; or damage.
        const bool blank = std::all_of(content.bytes.begin(), content.bytes.end(),
                                       [](std::byte byte) { return byte == std::byte{0}; });
        if (blank) return {};
        ++result_.damages;
        trace(
            TraceLevel::warning,
            "a journal has no good header; if it was damaged, events that were only in it are lost",
            {{"file", path}, {"bytes", std::to_string(content.bytes.size())}});
        return {};
    }
    EK_TRY_ASSIGN(const auto walk, for_each_entry(content, [this](const JournalEntry& entry) {
                      return take(entry);
                  }));
    result_.damages += walk.damages;
    if (walk.damages > 0) {
        // A power loss may have torn the last group so that a later entry of it is whole.
        trace(TraceLevel::warning, "a journal was torn, or is damaged, before its last entry",
              {{"file", path}, {"places", std::to_string(walk.damages)}});
    }
    return {};
}

Result<> Replay::take(const JournalEntry& entry) {
    const auto& identity = entry.place.identity;
    if (!failed_.empty() && failed_.count(key_of(identity)) > 0) return {};
    const auto folder = folder_of_(identity);
    bool written = false;
    if (folder) {
        const auto done = write(*folder, entry);
        if (!done.ok()) return fail(identity, done.error());
        written = *done;
    }
    result_.entries += written;
    result_.skipped += !written;
    if (written) result_.bytes += entry.bytes.size();
    return {};
}

// False if the segment is not there any more.
Result<bool> Replay::write(const std::string& folder, const JournalEntry& entry) {
    const std::string path = folder + "/" + log_name(entry.place.segment);
    auto found = segments_.find(path);
    if (found == segments_.end()) {
        auto file = files_.open(path, io::OpenMode::write);
        if (!file.ok() && EK_CANARY(replay_removed)) {
            file = files_.open(path, io::OpenMode::create);
        }
        if (!file.ok() && file.error().code != ErrorCode::not_found) return file.error();
        Segment segment{entry.place.identity, file.ok() ? std::move(*file) : nullptr};
        found = segments_.emplace(path, std::move(segment)).first;
    }
    io::File* const file = found->second.file.get();
    if (!file) return false;
    EK_TRY(file->write(file_position(entry.place.segment.base, entry.place.from), entry.bytes));
    return true;
}

Result<> Replay::sync_segments() {
    if (EK_CANARY(skip_replay_sync)) return {};
    for (const auto& [path, segment] : segments_) {
        if (!segment.file) continue;
        if (const auto synced = segment.file->sync(); !synced.ok()) {
            EK_TRY(fail(segment.identity, synced.error()));
        }
    }
    return {};
}

// One bad file keeps only its partition from its work. Without room nothing goes on: the operator
// makes some, and all of it is there.
Result<> Replay::fail(const LogIdentity& identity, const Error& error) {
    if (error.code == ErrorCode::overloaded) {
        return Error{error.code,
                     "events of a journal cannot be written to their partition; make room on the "
                     "disk, or allow more open files, and start again, nothing is lost: " +
                         error.detail};
    }
    failed_.emplace(key_of(identity), error);
    return {};
}

// In files of their own, because the journals' names are used again.
Result<> Replay::keep_refused() {
    Result<> kept;
    for (auto& journal : journals_) {
        kept = keep_refused_of(journal);
        if (!kept.ok()) break;
    }
    if (kept.ok() && !kept_.empty()) kept = files_.sync_directory(directory_);
    if (!kept.ok()) {
        for (const auto& name : kept_) (void)files_.remove(path_of(name));
        return Error{kept.error().code,
                     fmt::format("events of a journal cannot be written to their partition ({}), "
                                 "nor be kept beside it ({}); mend the disk and start again, "
                                 "nothing is lost",
                                 failed_.begin()->second.detail, kept.error().detail)};
    }
    for (const auto& [key, error] : failed_) {
        result_.unreplayed.push_back(
            {{key.first, {key.second}},
             {ErrorCode::unavailable,
              fmt::format("events in the journal cannot be written to this partition: {}; they are "
                          "kept in {}/{}*{}. Mend the disk or the file and start again, nothing is "
                          "lost; or remove the event hub",
                          error.detail, directory_, kept_prefix, journal_suffix)}});
    }
    return {};
}

Result<> Replay::keep_refused_of(Journal& journal) {
    EK_TRY_ASSIGN(const auto content,
                  read_journal(files_, path_of(journal.name), journal_bytes_max));
    if (!content.header) return {};
    const auto first = encode(*content.header);
    std::vector<std::byte> bytes(first.begin(), first.end());
    bool only_refused = true;
    EK_TRY(for_each_entry(content, [&](const JournalEntry& entry) -> Result<> {
        if (failed_.count(key_of(entry.place.identity)) == 0) {
            only_refused = false;
            return {};
        }
        std::byte* const payload =
            begin_entry(entry.place, content.header->generation, entry.bytes.size(), bytes);
        std::copy(entry.bytes.begin(), entry.bytes.end(), payload);
        seal_entry(entry.bytes.size(), content.header->seed(), payload);
        return {};
    }));
    if (bytes.size() == first.size()) return {};
    journal.stays = only_refused && journal.name.starts_with(kept_prefix);
    if (journal.stays) return {};
    kept_.push_back(free_name());
    EK_TRY_ASSIGN(const auto file, files_.open(path_of(kept_.back()), io::OpenMode::create));
    EK_TRY(file->write(0, bytes));
    return file->sync();
}

std::string Replay::free_name() const {
    for (std::uint64_t number = 1;; ++number) {
        std::string name = fmt::format("{}{}{}", kept_prefix, number, journal_suffix);
        const bool used = std::any_of(journals_.begin(), journals_.end(),
                                      [&](const Journal& other) { return other.name == name; });
        if (!used && std::find(kept_.begin(), kept_.end(), name) == kept_.end()) return name;
    }
}

Result<> Replay::remove_files() {
    for (const auto& journal : journals_) {
        if (!journal.stays) EK_TRY(files_.remove(path_of(journal.name)));
    }
    return files_.sync_directory(directory_);
}

}  // namespace

Result<JournalContent> read_journal(io::FileSystem& files, const std::string& path,
                                    std::uint64_t bytes_max) {
    EK_TRY_ASSIGN(const auto file, files.open(path, io::OpenMode::read));
    EK_TRY_ASSIGN(const std::uint64_t size, file->size());
    JournalContent content;
    content.bytes.resize(std::min({size, bytes_max, journal_bytes_max}));
    EK_TRY_ASSIGN(const std::size_t got, file->read(0, content.bytes));
    content.bytes.resize(got);
    EK_TRY_ASSIGN(content.header, decode_journal_header(content.bytes, path));
    return content;
}

Result<JournalWalk> for_each_entry(const JournalContent& content,
                                   Callback<Result<>(const JournalEntry&)> take) {
    JournalWalk walk;
    if (!content.header) return walk;
    const ByteView bytes = content.bytes;
    // Behind a bad place the next good entry counts: it was acknowledged by itself. What follows
    // the last one is a torn group, or the remains of an earlier generation.
    bool passing = false;
    for (std::size_t at = journal_entries_at; at + journal_entry_header_bytes <= bytes.size();) {
        const auto entry = decode_journal_entry(bytes.subspan(at), *content.header);
        if (!entry) {
            passing = true;
            at += 8;
            continue;
        }
        walk.damages += passing;
        passing = false;
        EK_TRY(take(*entry));
        at += journal_entry_header_bytes + entry->bytes.size();
        walk.end = at;
    }
    return walk;
}

Result<Replayed> replay_journals(
    io::FileSystem& files, const std::string& directory,
    Callback<std::optional<std::string>(const LogIdentity&)> folder_of) {
    return Replay(files, directory, std::move(folder_of)).run();
}

}  // namespace evenkeel::commitlog
