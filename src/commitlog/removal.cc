#include "commitlog/removal.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/log.h"

namespace evenkeel::commitlog {

Removal::Removal(const LogContext& context, Stream& stream, const LogReading& reading,
                 std::shared_ptr<Writer> writer, Task start_successor)
    : context_(context),
      stream_(stream),
      reading_(reading),
      writer_(std::move(writer)),
      start_successor_(std::move(start_successor)),
      durable_start_(stream.start_sequence()) {}

void Removal::retain(const RetentionPolicy& policy, WallTime now, Done done) {
    std::size_t count = expired(policy, now);
    if (count == stream_.segments().size()) {
        start_successor_();
        --count;
    }
    if (count == 0) return;
    const SegmentName first = stream_.segments()[count].header.name;
    stream_.set_start(first.base, first.base_sequence);
    remove_below_start(std::move(done));
}

// How many segments, from the first on, the policy lets go.
std::size_t Removal::expired(const RetentionPolicy& policy, WallTime now) const {
    const SegmentList& segments = stream_.segments();
    std::vector<SegmentAge> ages;
    for (std::size_t i = 0; i < segments.size(); ++i) {
        const bool last = i + 1 == segments.size();
        const Offset end = last ? stream_.taken().offset : segments[i + 1].base();
        const auto bytes = static_cast<std::uint64_t>(end.value - segments[i].base().value);
        const bool next_exists = !last && segments[i + 1].exists;
        ages.push_back({segments.last_time(i, stream_.visible().last_time),
                        bytes + segment_header_bytes, next_exists});
    }
    // A full segment is sealed even if nothing came after it: give it a successor, and the next
    // round can remove it.
    ages.back().sealed = segments.back().exists &&
                         stream_.visible().offset == stream_.taken().offset && stream_.is_full(1);
    return segments_to_remove(ages, policy, now);
}

void Removal::purge(SequenceNumber first_kept, Done done) {
    const StreamEnd visible = stream_.visible();
    if (first_kept > visible.sequence) first_kept = visible.sequence;
    if (first_kept <= durable_start_) return done({});
    // Gone already, but the mark that says so is under way or was refused by the disk.
    if (first_kept <= stream_.start_sequence()) return remove_below_start(std::move(done));
    if (first_kept == visible.sequence) {
        stream_.set_start(visible.offset, visible.sequence);
        // The numbers live on in the header of an empty successor (LOG-4).
        const bool ends_here = stream_.taken().offset == visible.offset;
        if (stream_.active_bytes() > 0 && ends_here) start_successor_();
        return remove_below_start(std::move(done));
    }
    auto cursor = reading_.seek(Position::at_sequence(first_kept.value));
    if (!cursor.ok()) return done(cursor.error());
    ReadStep step = reading_.read(*cursor, 1);
    if (const auto* slice = std::get_if<Slice>(&step)) {
        const Record record = *slice->begin();
        return purge_to(record.offset, record.sequence, std::move(done));
    }
    if (auto* cold = std::get_if<ColdRead>(&step)) {
        return purge_to_record_at(std::move(*cold), std::move(done));
    }
    // Segments that contradict each other: a file that was put there by hand, say.
    done(Error{ErrorCode::corrupt, "purge to event " + std::to_string(first_kept.value) +
                                       ": it is not where the segments say"});
}

void Removal::purge_to_record_at(ColdRead read, Done done) {
    ++under_way_;
    context_.disk.post([this, watch = lifetime_.watch(), read = std::move(read),
                        done = std::move(done), &loop = context_.loop]() mutable {
        auto outcome = read.perform();
        loop.post([this, watch = std::move(watch), outcome = std::move(outcome),
                   done = std::move(done)]() mutable {
            if (watch.over()) return;
            --under_way_;
            if (!outcome.ok()) {
                done(outcome.error());
            } else if (outcome->events.empty()) {
                // The event itself is damaged: the damage goes, what follows it stays.
                purge_to(outcome->next, outcome->next_sequence, std::move(done));
            } else {
                const Record record = *outcome->events.begin();
                purge_to(record.offset, record.sequence, std::move(done));
            }
        });
    });
}

void Removal::purge_to(Offset start, SequenceNumber sequence, Done done) {
    stream_.set_start(start, sequence);
    remove_below_start(std::move(done));
}

void Removal::go_on(Done done) {
    if (stream_.segments().has_below(stream_.start())) remove_below_start(std::move(done));
}

// Forgets the segments below the start at once and removes their files behind the mark (LOG-14).
void Removal::remove_below_start(Done done) {
    ++under_way_;
    const Mark mark = stream_.next_mark(stream_.visible(), 2);
    context_.disk.post([this, watch = lifetime_.watch(), writer = writer_,
                        removed = stream_.remove_below_start(), mark, done = std::move(done),
                        &loop = context_.loop]() mutable {
        auto result = writer->remove(removed, mark);
        loop.post([this, watch = std::move(watch), result = std::move(result),
                   start = mark.start_sequence, done = std::move(done)]() mutable {
            if (watch.over()) return;
            --under_way_;
            if (result.ok()) {
                durable_start_ = std::max(durable_start_, start);
            } else {
                trace(TraceLevel::warning, "could not remove expired segments",
                      {{"cause", result.error().detail}});
            }
            done(std::move(result));
        });
    });
}

}  // namespace evenkeel::commitlog
