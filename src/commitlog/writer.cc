#include "commitlog/writer.h"

#include <limits>

#include "base/canary.h"
#include "base/clock.h"

namespace evenkeel::commitlog {
namespace {

// Of a flush that goes on in the active segment; others are too many for any journal.
std::uint64_t journaled_bytes(const Flush& flush) {
    constexpr auto too_many = std::numeric_limits<std::uint64_t>::max() / 2;
    if (flush.parts.size() != 1 || flush.parts.front().create) return too_many;
    std::uint64_t bytes = 0;
    for (const auto& piece : flush.parts.front().pieces) bytes += piece.bytes().size();
    return bytes;
}

}  // namespace

Writer::Writer(io::FileSystem& files, const Clock& clock, std::string directory,
               const LogIdentity& identity, Durability durability, LogMetrics& metrics,
               Journal* journal)
    : files_(files),
      clock_(clock),
      directory_(std::move(directory)),
      identity_(identity),
      seed_(identity.seed()),
      durability_(durability),
      metrics_(metrics),
      journal_(durability == Durability::disk ? journal : nullptr) {}

Result<> Writer::open(const SegmentName& active, std::size_t index_entries) {
    EK_TRY_ASSIGN(active_, files_.open(directory_ + "/" + log_name(active), io::OpenMode::write));
    EK_TRY_ASSIGN(mark_, files_.open(directory_ + "/" + mark_file_name, io::OpenMode::write));
    // Opened for the first entry: most partitions of a large hub are idle.
    index_.reset();
    index_entries_ = index_entries;
    note_active(active);
    return {};
}

void Writer::note_active(const SegmentName& name) {
    if (journal_) segment_ = std::make_shared<JournaledSegment>(directory_, identity_, name);
}

void Writer::flush(const Flush& flush, Callback<void(FlushOutcome)> done) {
    FlushOutcome outcome;
    outcome.began = clock_.now();
    sync_time_ = {};
    if (journal_) {
        const auto taken = journal_->prepare(journaled_bytes(flush));
        if (!taken.ok()) {
            metrics_.failures.add();
            outcome.result = taken.error();
            return done(std::move(outcome));
        }
        if (*taken) return flush_to_journal(flush, std::move(outcome), std::move(done));
    }
    for (const auto& part : flush.parts) {
        outcome.result = write_part(part);
        if (!outcome.result.ok()) {
            metrics_.failures.add();
            return done(std::move(outcome));
        }
        ++outcome.parts_done;
    }
    metrics_.write_time.observe((clock_.now() - outcome.began - sync_time_).count());
    // Not synced: a crash of the machine only makes the next start read a little more.
    (void)put_mark(raised(flush.mark));
    done(std::move(outcome));
}

// The segment first: what it refuses never gets into the journal.
void Writer::flush_to_journal(const Flush& flush, FlushOutcome outcome,
                              Callback<void(FlushOutcome)> done) {
    const FlushPart& part = flush.parts.front();
    outcome.result = write_pieces(part);
    if (!outcome.result.ok()) {
        cut_back(part);
        metrics_.failures.add();
        return done(std::move(outcome));
    }
    metrics_.write_time.observe((clock_.now() - outcome.began).count());
    // Whoever waits is answered first; `done` keeps the flush alive for the mark.
    journal_->add(
        segment_, part.from, part.pieces,
        [this, &flush, outcome = std::move(outcome),
         done = std::move(done)](const Result<>& result) mutable {
            if (result.ok()) {
                outcome.parts_done = 1;
            } else {
                cut_back(flush.parts.front());
                metrics_.failures.add();
                outcome.result = result;
            }
            done(std::move(outcome));
        },
        [this, &flush] { note_journaled(flush); });
}

void Writer::note_journaled(const Flush& flush) {
    write_index(flush.parts.front());
    (void)put_mark(raised(flush.mark));
}

Result<> Writer::write_part(const FlushPart& part) {
    if (part.create) return create_segment(part);
    auto result = write_pieces(part);
    if (result.ok()) result = sync_active();
    if (!result.ok()) {
        cut_back(part);
        return result;
    }
    write_index(part);
    return {};
}

void Writer::cut_back(const FlushPart& part) {
    (void)active_->truncate(file_position(part.header.name.base, part.from));
}

// Makes the active segment durable in itself, whatever the journal has of it (LOG-13).
Result<> Writer::settle() {
    return segment_ ? journal_->settle(*segment_, *active_) : Result<>();
}

// Leaves the segment before in place if anything fails.
Result<> Writer::create_segment(const FlushPart& part) {
    EK_TRY(settle());
    const std::string path = directory_ + "/" + log_name(part.header.name);
    auto opened = files_.open(path, io::OpenMode::create);
    if (!opened.ok() && opened.error().code == ErrorCode::already_exists) {
        // Left over from a creation that failed, or abandoned while it was empty. What it held must
        // be gone for good before anything is written in its place.
        opened = files_.open(path, io::OpenMode::write);
        if (!opened.ok()) return opened.error();
        EK_TRY((*opened)->truncate(0));
        EK_TRY((*opened)->sync());
    }
    if (!opened.ok()) return opened.error();
    auto before = std::exchange(active_, std::move(*opened));
    auto result = active_->write(0, encode(part.header, seed_));
    if (result.ok()) result = write_pieces(part);
    if (result.ok()) result = sync_active();
    if (result.ok() && durability_ == Durability::disk && !EK_CANARY(skip_directory_sync)) {
        result = files_.sync_directory(directory_);
    }
    if (!result.ok()) {
        active_ = std::move(before);
        (void)files_.remove(path);
        return result;
    }
    note_active(part.header.name);
    index_.reset();
    index_entries_ = 0;
    write_index(part);
    return {};
}

Result<> Writer::write_pieces(const FlushPart& part) {
    for (const auto& piece : part.pieces) {
        EK_TRY(active_->write(file_position(part.header.name.base, piece.from), piece.bytes()));
    }
    return {};
}

Result<> Writer::sync_active() {
    if (durability_ == Durability::os || EK_CANARY(ack_before_sync)) return {};
    const Instant before = clock_.now();
    auto result = active_->sync();
    if (!result.ok() && EK_CANARY(retry_sync)) result = active_->sync();
    if (segment_) segment_->note_sync(result.ok());
    metrics_.syncs.add();
    const Duration time = clock_.now() - before;
    sync_time_ += time;
    metrics_.sync_time.observe(time.count());
    return result;
}

// A hint: a failure is of no consequence but a slower search.
void Writer::write_index(const FlushPart& part) {
    if (part.index.empty()) return;
    if (!index_) {
        const std::string path = directory_ + "/" + index_name(part.header.name);
        auto opened = files_.open(path, io::OpenMode::write);
        if (!opened.ok()) opened = files_.open(path, io::OpenMode::create);
        if (!opened.ok()) return;
        index_ = std::move(*opened);
    }
    index_bytes_.clear();
    for (const auto& entry : part.index) append_encoded(entry, seed_, index_bytes_);
    (void)index_->write(index_entries_ * index_entry_bytes, index_bytes_);
    index_entries_ += part.index.size();
}

Result<> Writer::remove(const std::vector<SegmentName>& segments, const Mark& mark) {
    leaving_.insert(leaving_.end(), segments.begin(), segments.end());
    EK_TRY(save(mark));
    while (!leaving_.empty()) {
        for (const auto& file : {log_name(leaving_.back()), index_name(leaving_.back())}) {
            auto removed = files_.remove(directory_ + "/" + file);
            if (!removed.ok() && removed.error().code != ErrorCode::not_found) return removed;
        }
        leaving_.pop_back();
    }
    return {};
}

// A removal that was planned while a flush was under way knows an older end than the flush (LOG-9).
// A flush that waited for the journal meanwhile knows an older start than the removal (LOG-10).
Mark Writer::raised(Mark mark) {
    if (mark.counter < highest_.counter) {
        mark.counter = highest_.counter;
        mark.start = highest_.start;
        mark.start_sequence = highest_.start_sequence;
    }
    if (mark.end < highest_.end) {
        mark.end = highest_.end;
        mark.end_sequence = highest_.end_sequence;
        mark.last_time = highest_.last_time;
        mark.last_record_bytes = highest_.last_record_bytes;
    }
    highest_ = mark;
    return mark;
}

// Both slots, so that no older start can come back.
Result<> Writer::save(const Mark& mark) {
    const Mark newer = raised(mark);
    Mark older = newer;
    older.counter -= 1;
    const bool newer_first = torn_slot_ == newer.counter % 2;
    EK_TRY(put_mark(newer_first ? newer : older));
    EK_TRY(put_mark(newer_first ? older : newer));
    return mark_->sync();
}

// A slot whose write failed may be torn. The other one is then the only good one, and is left alone
// until the first is whole again, on the disk too.
Result<> Writer::put_mark(const Mark& mark) {
    const std::uint64_t slot = mark.counter % 2;
    if (torn_slot_ && *torn_slot_ != slot) {
        return Error{ErrorCode::unavailable, directory_ + "/" + mark_file_name +
                                                 ": one slot could not be written, try again"};
    }
    auto result = write_mark(*mark_, mark, seed_);
    if (result.ok() && torn_slot_) result = mark_->sync();
    torn_slot_.reset();
    if (!result.ok()) torn_slot_ = slot;
    return result;
}

}  // namespace evenkeel::commitlog
