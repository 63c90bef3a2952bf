#include "commitlog/writer.h"

#include "base/canary.h"
#include "base/clock.h"

namespace evenkeel::commitlog {

LogMetrics::LogMetrics(Metrics& metrics)
    : events(metrics.counter("evenkeel_incoming_events_total", "Events appended durably.")),
      bytes(metrics.counter("evenkeel_incoming_bytes_total", "Bytes of events and their framing.")),
      syncs(metrics.counter("evenkeel_fsyncs_total", "Times that segment files were synced.")),
      failures(metrics.counter("evenkeel_append_failures_total", "Flushes the disk refused.")),
      damages(metrics.counter("evenkeel_damaged_ranges_total", "Damaged ranges that were met.")),
      queue_time(metrics.histogram("evenkeel_queue_duration_seconds",
                                   "From a batch's append to the start of its write.")),
      write_time(metrics.histogram("evenkeel_write_duration_seconds",
                                   "Time to write what is synced together, without the sync.")),
      sync_time(metrics.histogram("evenkeel_fsync_duration_seconds", "Time of one sync.")) {}

Writer::Writer(io::FileSystem& files, const Clock& clock, std::string directory, std::uint32_t seed,
               Durability durability, LogMetrics& metrics)
    : files_(files),
      clock_(clock),
      directory_(std::move(directory)),
      seed_(seed),
      durability_(durability),
      metrics_(metrics) {}

Result<> Writer::open(const SegmentName& active, std::size_t index_entries) {
    EK_TRY_ASSIGN(active_, files_.open(directory_ + "/" + log_name(active), io::OpenMode::write));
    EK_TRY_ASSIGN(mark_, files_.open(directory_ + "/" + mark_file_name, io::OpenMode::write));
    // Opened for the first entry: most partitions of a large hub are idle.
    index_.reset();
    index_entries_ = index_entries;
    return {};
}

FlushOutcome Writer::flush(const Flush& flush) {
    FlushOutcome outcome;
    outcome.began = clock_.now();
    sync_time_ = {};
    for (const auto& part : flush.parts) {
        outcome.result = write_part(part);
        if (!outcome.result.ok()) {
            metrics_.failures.add();
            return outcome;
        }
        ++outcome.parts_done;
    }
    metrics_.write_time.observe((clock_.now() - outcome.began - sync_time_).count());
    // Not synced: a crash of the machine only makes the next start read a little more.
    (void)put_mark(raised(flush.mark));
    return outcome;
}

Result<> Writer::write_part(const FlushPart& part) {
    if (part.create) return create_segment(part);
    auto result = write_pieces(part);
    if (result.ok()) result = sync_active();
    if (!result.ok()) {
        (void)active_->truncate(file_position(part.header.name.base, part.from));
        return result;
    }
    write_index(part);
    return {};
}

// Leaves the segment before in place if anything fails.
Result<> Writer::create_segment(const FlushPart& part) {
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
Mark Writer::raised(Mark mark) {
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
