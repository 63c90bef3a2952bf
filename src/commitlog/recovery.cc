#include "commitlog/recovery.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/canary.h"
#include "base/format_version.h"
#include "commitlog/scan.h"

namespace evenkeel::commitlog {
namespace {

// One recovery; the steps of recover() in order.
class Recovery {
public:
    Recovery(io::FileSystem& files, const std::string& directory, const LogIdentity& identity,
             std::uint64_t index_distance)
        : files_(files),
          directory_(directory),
          identity_(identity),
          seed_(identity.seed()),
          index_distance_(index_distance) {}

    Result<Recovered> run();

private:
    struct Found {
        SegmentName name;
        std::uint64_t file_bytes = 0;
        std::optional<SegmentHeader> header = std::nullopt;
        bool foreign = false;      // a good header, but of another partition or event hub
        bool has_records = false;  // known only where the header is bad
    };

    Result<> list_files();
    Result<> remove_leftovers();
    Result<> make_mark_and_names_durable();
    Result<> read_headers();
    void put_aside_what_does_not_fit();
    Result<> remove_below_start();
    Result<> replace_missing_active();
    Result<> recover_active();
    Result<> scan_last_segment();
    bool is_unborn() const;
    Result<> remove_last_segment();
    Result<> choose_scan_start(io::File& file);
    Result<> scan_active(io::File& file);
    Result<Offset> highest_proof(io::File& file);
    Result<> settle_active(io::File& file);
    Result<> start_segment_at_mark();
    Result<> save_mark();
    Result<> create_segment(const SegmentHeader& header);
    void take(const Record& record);

    std::string path(const std::string& name) const { return directory_ + "/" + name; }
    Offset file_end() const {
        const auto bytes = static_cast<std::int64_t>(active_bytes_);
        return active_.base +
               std::max<std::int64_t>(0, bytes - static_cast<std::int64_t>(segment_header_bytes));
    }

    // No event below the mark's end has this number or a higher one.
    SequenceNumber numbers_end() const {
        return mark_ && start_ < mark_->end ? mark_->end_sequence : Scanner::unlimited;
    }

    io::FileSystem& files_;
    const std::string& directory_;
    const LogIdentity& identity_;
    const std::uint32_t seed_;
    const std::uint64_t index_distance_;

    std::vector<Found> found_;
    std::vector<SegmentName> index_files_;
    std::vector<std::string> leftovers_;  // of an index that was being rebuilt
    std::optional<Mark> mark_;
    Recovered result_;

    // The last segment while it is scanned. `end` is behind the last whole batch.
    SegmentName active_;
    std::uint64_t active_bytes_ = 0;
    bool active_header_good_ = true;
    Offset start_;
    Offset proof_{0};
    Offset at_;
    SequenceNumber at_sequence_;
    Offset end_;
    SequenceNumber end_sequence_;
    WallTime last_time_{0};
    std::uint32_t last_record_bytes_ = 0;
    bool changed_ = false;
};

Result<Recovered> Recovery::run() {
    EK_TRY(list_files());
    EK_TRY_ASSIGN(mark_, read_mark(files_, directory_, seed_));
    EK_TRY(read_headers());  // refuses newer versions, so before the first change
    EK_TRY(remove_leftovers());
    EK_TRY(make_mark_and_names_durable());
    put_aside_what_does_not_fit();
    EK_TRY(remove_below_start());
    EK_TRY(replace_missing_active());
    EK_TRY(recover_active());
    EK_TRY(save_mark());
    return std::move(result_);
}

Result<> Recovery::list_files() {
    EK_TRY_ASSIGN(const auto entries, files_.list(directory_));
    for (const auto& entry : entries) {
        if (const auto log = parse_segment_name(entry.name, ".log"); log && !entry.is_directory) {
            found_.push_back({.name = *log});
        } else if (const auto index = parse_segment_name(entry.name, ".idx"); index) {
            index_files_.push_back(*index);
        } else if (entry.name.ends_with(".idx.tmp") && !entry.is_directory) {
            leftovers_.push_back(entry.name);
        } else if (entry.name != mark_file_name) {
            result_.odd_files.push_back(path(entry.name));
        }
    }
    std::sort(found_.begin(), found_.end(), [](const Found& a, const Found& b) {
        return a.name.base != b.name.base ? a.name.base < b.name.base
                                          : a.name.base_sequence < b.name.base_sequence;
    });
    return {};
}

Result<> Recovery::remove_leftovers() {
    for (const auto& name : leftovers_) EK_TRY(files_.remove(path(name)));
    // An index without its segment is left over from a removal that a crash cut short.
    for (const auto& index : index_files_) {
        const bool used = std::any_of(found_.begin(), found_.end(),
                                      [&](const Found& segment) { return segment.name == index; });
        if (!used) EK_TRY(files_.remove(path(index_name(index))));
    }
    return {};
}

// A process that was killed leaves what it had not synced in the page cache, and we see it as if it
// were on disk. Nothing may rest on that: the start that readers are shown and removals go by, and
// the name of the active segment. The mark is written anew, because a sync of it may have failed
// (LOG-6); one slot after the other, so that the disk has a whole one at any moment.
Result<> Recovery::make_mark_and_names_durable() {
    if (mark_) {
        EK_TRY_ASSIGN(const auto file, files_.open(path(mark_file_name), io::OpenMode::write));
        EK_TRY(file->sync());
        for (int slot = 0; slot < 2; ++slot) {
            ++mark_->counter;
            EK_TRY(write_mark(*file, *mark_, seed_));
            EK_TRY(file->sync());
        }
    }
    return files_.sync_directory(directory_);
}

Result<> Recovery::read_headers() {
    for (auto& segment : found_) {
        EK_TRY_ASSIGN(const auto file,
                      files_.open(path(log_name(segment.name)), io::OpenMode::read));
        EK_TRY_ASSIGN(segment.file_bytes, file->size());
        std::array<std::byte, segment_header_bytes> bytes{};
        EK_TRY_ASSIGN(const std::size_t got, file->read(0, bytes));
        EK_TRY(format::check(path(log_name(segment.name)),
                             segment_version({bytes.data(), got}).value_or(format::segment),
                             format::segment));
        segment.header = decode_segment_header({bytes.data(), got});
        if (segment.header) {
            segment.foreign = segment.header->incarnation != identity_.incarnation ||
                              segment.header->partition != identity_.partition;
            if (segment.header->name != segment.name) segment.header.reset();
        }
        if (!segment.header && segment.file_bytes > segment_header_bytes) {
            const auto size = static_cast<std::int64_t>(segment.file_bytes - segment_header_bytes);
            Scanner scanner(*file, segment.name.base, segment.name.base + size, seed_);
            EK_TRY_ASSIGN(const auto record,
                          scanner.find(segment.name.base, segment.name.base_sequence));
            segment.has_records = record.has_value();
        }
    }
    return {};
}

// A file that carries a segment's name but not a good header is ours if it has a record of ours, or
// is the last one and continues the stream. An empty one further ahead is left over from a creation
// that failed: the segment before it went on, and must not be hidden by it. One of another event
// hub's is never touched.
void Recovery::put_aside_what_does_not_fit() {
    std::vector<Found> fitting;
    for (auto& segment : found_) {
        const bool rises =
            fitting.empty() || (segment.name.base > fitting.back().name.base &&
                                segment.name.base_sequence > fitting.back().name.base_sequence);
        const Offset expected =
            fitting.empty()
                ? Offset{0}
                : fitting.back().name.base +
                      static_cast<std::int64_t>(fitting.back().file_bytes - segment_header_bytes);
        const bool continues =
            &segment == &found_.back() &&
            (segment.name.base == expected || (mark_ && segment.name.base == mark_->end));
        const bool ours = segment.header || segment.has_records || continues;
        if (rises && ours && !segment.foreign) {
            fitting.push_back(std::move(segment));
        } else {
            result_.odd_files.push_back(path(log_name(segment.name)));
        }
    }
    found_ = std::move(fitting);
}

Result<> Recovery::remove_below_start() {
    if (!mark_) return {};
    // Removal had begun, since the mark is moved first; a crash brought the names back.
    while (found_.size() > 1 && found_[1].name.base <= mark_->start) {
        EK_TRY(files_.remove(path(log_name(found_.front().name))));
        const auto index = files_.remove(path(index_name(found_.front().name)));
        if (!index.ok() && index.error().code != ErrorCode::not_found) return index.error();
        found_.erase(found_.begin());
    }
    return {};
}

Result<> Recovery::replace_missing_active() {
    if (!found_.empty() || !mark_) return {};
    // All segments are gone. The mark still knows which numbers were given out (LOG-4).
    changed_ = true;
    SegmentHeader header{{mark_->end_sequence, mark_->end},
                         identity_.incarnation,
                         identity_.partition,
                         mark_->last_record_bytes,
                         mark_->last_time};
    EK_TRY(create_segment(header));
    found_.push_back({.name = header.name, .file_bytes = segment_header_bytes, .header = header});
    return {};
}

Result<> Recovery::recover_active() {
    if (found_.empty()) {
        return Error{ErrorCode::corrupt,
                     fmt::format("{} holds no segment of this event hub's incarnation; restore the "
                                 "folder from a copy, or remove the event hub",
                                 directory_)};
    }
    if (mark_ && mark_->start < found_.front().name.base) {
        result_.segments.push_back(
            {{mark_->start_sequence, mark_->start}, 0, WallTime{0}, false, true});
        result_.damages.push_back({mark_->start_sequence, found_.front().name.base_sequence,
                                   mark_->start, found_.front().name.base,
                                   path(log_name(result_.segments.back().name))});
    }
    for (const auto& segment : found_) {
        RecoveredSegment known{segment.name, 0, WallTime{0}, segment.header.has_value(), false};
        if (segment.header) {
            known.last_record_bytes = segment.header->last_record_bytes;
            known.floor_time = segment.header->floor_time;
        }
        result_.segments.push_back(known);
    }
    EK_TRY(scan_last_segment());
    if (is_unborn()) {
        EK_TRY(remove_last_segment());
        EK_TRY(scan_last_segment());
    }
    EK_TRY_ASSIGN(const auto file, files_.open(path(log_name(active_)), io::OpenMode::write));
    EK_TRY(settle_active(*file));
    if (mark_ && end_ < mark_->end && !EK_CANARY(reuse_sequence)) EK_TRY(start_segment_at_mark());
    return {};
}

Result<> Recovery::scan_last_segment() {
    active_ = found_.back().name;
    active_bytes_ = found_.back().file_bytes;
    active_header_good_ = found_.back().header.has_value();
    EK_TRY_ASSIGN(const auto file, files_.open(path(log_name(active_)), io::OpenMode::read));
    EK_TRY(choose_scan_start(*file));
    return scan_active(*file);
}

// A crash cut short its creation: the header and the first batch are synced together, and neither
// is whole.
bool Recovery::is_unborn() const {
    return !active_header_good_ && end_ == active_.base && end_ >= proof_ && found_.size() > 1;
}

// The stream goes on in the segment before, all of which was synced first. That one also knows the
// last event's time, below which no later one may fall (LOG-5).
Result<> Recovery::remove_last_segment() {
    EK_TRY(files_.remove(path(log_name(active_))));
    proof_ = active_.base;
    changed_ = true;
    found_.pop_back();
    result_.segments.pop_back();
    return {};
}

// Everything below the mark was synced, so the scan begins there; without a usable mark, at the
// last index entry that points to a good record, or at the segment's beginning.
Result<> Recovery::choose_scan_start(io::File& file) {
    const auto& segment = result_.segments.back();
    start_ = active_.base;
    at_sequence_ = active_.base_sequence;
    last_time_ = segment.floor_time;
    last_record_bytes_ = segment.last_record_bytes;
    if (mark_ && mark_->end >= active_.base && mark_->end <= file_end()) {
        start_ = mark_->end;
        at_sequence_ = mark_->end_sequence;
        last_time_ = mark_->last_time;
        last_record_bytes_ = mark_->last_record_bytes;
    }
    result_.index = read_index(files_, path(index_name(active_)), active_.base, file_end(), seed_);
    Scanner scanner(file, active_.base, file_end(), seed_);
    while (!result_.index.empty() && start_ == active_.base) {
        const IndexEntry entry = result_.index.back();
        EK_TRY_ASSIGN(const auto record, scanner.at(entry.offset, entry.sequence));
        if (record) {
            start_ = entry.offset;
            at_sequence_ = entry.sequence;
            break;
        }
        result_.index.pop_back();
    }
    while (!result_.index.empty() && result_.index.back().offset >= start_) {
        result_.index.pop_back();
    }
    proof_ = std::max({proof_, active_.base, mark_ ? mark_->end : active_.base});
    at_ = end_ = start_;
    end_sequence_ = at_sequence_;
    return {};
}

Result<> Recovery::scan_active(io::File& file) {
    EK_TRY_ASSIGN(proof_, highest_proof(file));
    Scanner scanner(file, active_.base, file_end(), seed_);
    while (at_ < file_end()) {
        EK_TRY_ASSIGN(auto record, scanner.at(at_, at_sequence_));
        if (record) {
            take(*record);
            continue;
        }
        const bool torn = at_ >= proof_ || EK_CANARY(truncate_at_bad_record);
        if (torn) break;
        EK_TRY_ASSIGN(record, scanner.find(at_ + 8, at_sequence_, numbers_end()));
        if (!record) break;
        result_.damages.push_back(
            {at_sequence_, record->sequence, at_, record->offset, path(log_name(active_))});
        at_ = end_ = record->offset;
        at_sequence_ = end_sequence_ = record->sequence;
    }
    // Those of a batch that is not whole: other records take their places.
    while (!result_.index.empty() && result_.index.back().offset >= end_) result_.index.pop_back();
    return {};
}

void Recovery::take(const Record& record) {
    const auto bytes = static_cast<std::uint32_t>(stored_bytes(record));
    const Offset last = result_.index.empty() ? active_.base : result_.index.back().offset;
    if (static_cast<std::uint64_t>(at_.value - last.value) >= index_distance_) {
        result_.index.push_back({record.offset, record.sequence, record.enqueued});
    }
    at_ = at_ + bytes;
    at_sequence_ = at_sequence_ + 1;
    if (record.batch_remaining == 0 || at_ <= proof_) {
        end_ = at_;
        end_sequence_ = at_sequence_;
        last_time_ = record.enqueued;
        last_record_bytes_ = bytes;
    }
}

// Looks at all good records of the rest of the file, because a later one may prove an earlier one.
Result<Offset> Recovery::highest_proof(io::File& file) {
    Offset proof = proof_;
    Scanner scanner(file, active_.base, file_end(), seed_);
    Offset at = start_;
    SequenceNumber sequence = at_sequence_;
    while (at < file_end()) {
        EK_TRY_ASSIGN(auto record, scanner.at(at, sequence));
        if (!record) {
            EK_TRY_ASSIGN(record, scanner.find(at + 8, sequence, numbers_end()));
        }
        if (!record) break;
        // A record cannot have been written after something that comes behind it.
        if (record->synced <= record->offset) proof = std::max(proof, record->synced);
        at = record->offset + static_cast<std::int64_t>(stored_bytes(*record));
        sequence = record->sequence + 1;
    }
    return proof;
}

// Cuts what is not whole, and makes durable what is kept beyond the proof.
Result<> Recovery::settle_active(io::File& file) {
    if (EK_CANARY(truncate_at_bad_record) && mark_) mark_->end = std::min(mark_->end, end_);
    if (end_ >= proof_) {
        if (file_end() > end_) {
            result_.bytes_cut = static_cast<std::uint64_t>(file_end().value - end_.value);
            EK_TRY(file.truncate(file_position(active_.base, end_)));
            changed_ = true;
        }
        const Offset unproved = std::max(start_, proof_);
        if (unproved < end_) {
            std::vector<std::byte> bytes(static_cast<std::size_t>(end_.value - unproved.value));
            EK_TRY_ASSIGN(const std::size_t got,
                          file.read(file_position(active_.base, unproved), bytes));
            if (got != bytes.size()) {
                return Error{ErrorCode::unavailable,
                             fmt::format("{} became shorter while it was recovered",
                                         path(log_name(active_)))};
            }
            EK_TRY(file.write(file_position(active_.base, unproved), bytes));
            changed_ = true;
        }
    }
    if (!active_header_good_ && end_ == active_.base && end_ >= proof_) {
        // The only segment, and nothing in it: its header can be written again.
        SegmentHeader header{active_, identity_.incarnation, identity_.partition, 0, WallTime{0}};
        if (mark_ && mark_->end == active_.base) {
            header.last_record_bytes = mark_->last_record_bytes;
            header.floor_time = mark_->last_time;
        }
        EK_TRY(file.write(0, encode(header, seed_)));
        last_time_ = result_.segments.back().floor_time = header.floor_time;
        last_record_bytes_ = result_.segments.back().last_record_bytes = header.last_record_bytes;
        result_.segments.back().floor_known = true;
        changed_ = true;
    }
    // Both always. The log may have cut off what a disk refused, and until that is durable a power
    // loss could join it to events that are written in its place. A killed process may have created
    // the segment we append to, or removed one, and the name is not durable yet.
    EK_TRY(file.sync());
    return files_.sync_directory(directory_);
}

// The end of the stream is gone although it was durable. Its numbers are not given out again: what
// is missing is damage, and the stream goes on behind it in a new segment.
Result<> Recovery::start_segment_at_mark() {
    result_.damages.push_back(
        {end_sequence_, mark_->end_sequence, end_, mark_->end, path(log_name(active_))});
    const SegmentHeader header{{mark_->end_sequence, mark_->end},
                               identity_.incarnation,
                               identity_.partition,
                               mark_->last_record_bytes,
                               mark_->last_time};
    EK_TRY(create_segment(header));
    result_.segments.push_back(
        {header.name, header.last_record_bytes, header.floor_time, true, false});
    result_.index.clear();
    end_ = mark_->end;
    end_sequence_ = mark_->end_sequence;
    last_time_ = mark_->last_time;
    last_record_bytes_ = mark_->last_record_bytes;
    changed_ = true;
    return {};
}

Result<> Recovery::create_segment(const SegmentHeader& header) {
    EK_TRY_ASSIGN(const auto file, files_.open(path(log_name(header.name)), io::OpenMode::create));
    EK_TRY(file->write(0, encode(header, seed_)));
    EK_TRY(file->sync());
    return files_.sync_directory(directory_);
}

Result<> Recovery::save_mark() {
    Mark mark = mark_.value_or(Mark{});
    if (!mark_) {
        mark.start = result_.segments.front().name.base;
        mark.start_sequence = result_.segments.front().name.base_sequence;
    }
    const bool same = mark_ && mark.end == end_ && mark.end_sequence == end_sequence_;
    if (same && !changed_) {
        result_.mark = mark;
        return {};
    }
    mark.counter += 2;
    mark.end = end_;
    mark.end_sequence = end_sequence_;
    mark.last_time = last_time_;
    mark.last_record_bytes = last_record_bytes_;
    const std::string mark_path = path(mark_file_name);
    auto file = files_.open(mark_path, io::OpenMode::write);
    if (!file.ok() && file.error().code == ErrorCode::not_found) {
        file = files_.open(mark_path, io::OpenMode::create);
    }
    if (!file.ok()) return file.error();
    EK_TRY(write_mark_durably(**file, mark, seed_));
    EK_TRY(files_.sync_directory(directory_));
    result_.mark = mark;
    return {};
}

}  // namespace

Result<Recovered> create_log(io::FileSystem& files, const std::string& directory,
                             const LogIdentity& identity) {
    EK_TRY(files.make_directory(directory));
    const SegmentHeader header{{}, identity.incarnation, identity.partition, 0, WallTime{0}};
    const std::string log_path = directory + "/" + log_name(header.name);
    EK_TRY_ASSIGN(const auto log, files.open(log_path, io::OpenMode::create));
    EK_TRY(log->write(0, encode(header, identity.seed())));
    EK_TRY(log->sync());
    EK_TRY_ASSIGN(const auto mark,
                  files.open(directory + "/" + mark_file_name, io::OpenMode::create));
    Recovered empty;
    empty.segments.push_back({header.name, 0, header.floor_time, true, false});
    empty.mark.counter = 2;
    EK_TRY(write_mark(*mark, empty.mark, identity.seed()));
    EK_TRY(files.sync_directory(directory));
    return empty;
}

Result<Recovered> recover(io::FileSystem& files, const std::string& directory,
                          const LogIdentity& identity, std::uint64_t index_distance) {
    return Recovery(files, directory, identity, index_distance).run();
}

}  // namespace evenkeel::commitlog
