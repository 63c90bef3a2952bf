#include <algorithm>

#include "base/log.h"
#include "commitlog/log.h"

namespace evenkeel::commitlog {

// The newest event's time in a segment is the floor of the one behind it. Where a damaged header
// hides it, a later floor stands in: too late is safe, too early would remove live events.
WallTime Log::last_time_of(std::size_t index) const {
    for (std::size_t i = index + 1; i < segments_.size(); ++i) {
        if (segments_[i].floor_known) return segments_[i].header.floor_time;
    }
    return visible_time_;
}

void Log::retain(const RetentionPolicy& policy, WallTime now) {
    context_.loop.check_here();
    if (closing_) return;
    std::vector<SegmentAge> ages;
    for (std::size_t i = 0; i < segments_.size(); ++i) {
        const bool last = i + 1 == segments_.size();
        const auto bytes = static_cast<std::uint64_t>(
            (last ? tail_.end() : segments_[i + 1].header.name.base).value -
            segments_[i].header.name.base.value);
        const bool next_exists = !last && segments_[i + 1].exists;
        ages.push_back({last_time_of(i), bytes + segment_header_bytes, next_exists});
    }
    // A full segment is sealed even if nothing came after it: give it a successor, and the next
    // round can remove it.
    ages.back().sealed = segments_.back().exists && visible_ == tail_.end() &&
                         ages.back().bytes >= options_.segment_bytes_max + segment_header_bytes;
    std::size_t count = segments_to_remove(ages, policy, now);
    if (count == segments_.size()) {
        start_segment();
        flush_if_idle();
        --count;
    }
    if (count == 0) return;
    const SegmentName& first = segments_[count].header.name;
    if (first.base > start_) set_start(first.base, first.base_sequence);
    remove_below_start([](const Result<>&) {});
}

void Log::purge(SequenceNumber first_kept, Callback<void(Result<>)> done) {
    context_.loop.check_here();
    if (closing_) return done(Error{ErrorCode::cancelled, "the log is closed"});
    if (first_kept > visible_sequence_) first_kept = visible_sequence_;
    if (first_kept <= durable_start_) return done({});
    // Gone already, but the mark that says so is under way or was refused by the disk.
    if (first_kept <= start_sequence_) return remove_below_start(std::move(done));
    if (first_kept == visible_sequence_) {
        set_start(visible_, visible_sequence_);
        // The numbers live on in the header of an empty successor (LOG-4).
        const bool holds_events = segments_.back().header.name.base < tail_.end();
        if (holds_events && tail_.end() == visible_) start_segment();
        flush_if_idle();
        return remove_below_start(std::move(done));
    }
    auto cursor = seek(Position::at_sequence(first_kept.value));
    if (!cursor.ok()) return done(cursor.error());
    ReadStep step = read(*cursor, 1);
    if (const auto* slice = std::get_if<Slice>(&step)) {
        const Record record = *slice->begin();
        set_start(record.offset, record.sequence);
        return remove_below_start(std::move(done));
    }
    auto* cold = std::get_if<ColdRead>(&step);
    if (!cold) {
        // Segments that contradict each other: a file that was put there by hand, say.
        return done(Error{ErrorCode::corrupt, "purge to event " + std::to_string(first_kept.value) +
                                                  ": it is not where the segments say"});
    }
    ++disk_tasks_;
    context_.disk.post([this, watch = lifetime_.watch(), read = std::move(*cold),
                        done = std::move(done), &loop = context_.loop]() mutable {
        auto outcome = read.perform();
        loop.post([this, watch = std::move(watch), outcome = std::move(outcome),
                   done = std::move(done)]() mutable {
            if (watch.over()) return;
            --disk_tasks_;
            if (!outcome.ok()) {
                done(outcome.error());
            } else if (outcome->events.empty()) {
                // The event itself is damaged: the damage goes, what follows it stays.
                set_start(outcome->next, outcome->next_sequence);
                remove_below_start(std::move(done));
            } else {
                const Record record = *outcome->events.begin();
                set_start(record.offset, record.sequence);
                remove_below_start(std::move(done));
            }
            finish_close_if_idle();
        });
    });
}

void Log::set_start(Offset start, SequenceNumber sequence) {
    if (start <= start_) return;
    start_ = start;
    start_sequence_ = sequence;
}

// Forgets the segments below start_ at once and removes their files behind the mark (LOG-14). The
// last segment that exists always stays: it keeps the numbers.
void Log::remove_below_start(Callback<void(Result<>)> done) {
    std::vector<SegmentName> removed;
    while (segments_.size() > 1 && segments_[1].exists && segments_[1].header.name.base <= start_) {
        removed.push_back(segments_.front().header.name);
        segments_.pop_front();
    }
    ++disk_tasks_;
    context_.disk.post([this, watch = lifetime_.watch(), writer = writer_,
                        removed = std::move(removed), mark = next_mark(2), done = std::move(done),
                        &loop = context_.loop]() mutable {
        auto result = writer->remove(removed, mark);
        loop.post([this, watch = std::move(watch), result = std::move(result),
                   start = mark.start_sequence, done = std::move(done)]() mutable {
            if (watch.over()) return;
            --disk_tasks_;
            if (result.ok()) {
                durable_start_ = std::max(durable_start_, start);
            } else {
                trace(TraceLevel::warning, "could not remove expired segments",
                      {{"cause", result.error().detail}});
            }
            done(std::move(result));
            finish_close_if_idle();
        });
    });
}

}  // namespace evenkeel::commitlog
