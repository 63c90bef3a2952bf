#include "commitlog/stream.h"

#include <algorithm>

#include "base/check.h"

namespace evenkeel::commitlog {
namespace {

StreamEnd end_of(const Mark& mark) {
    return {mark.end, mark.end_sequence, mark.last_time, mark.last_record_bytes};
}

}  // namespace

Stream::Stream(io::FileSystem& files, const std::string& directory, const LogIdentity& identity,
               const StreamOptions& options, const Recovered& recovered)
    : seed_(identity.seed()),
      options_(options),
      segments_(files, directory, identity, recovered.segments),
      tail_(recovered.mark.end, options.chunk_bytes_max),
      index_(options.index_distance, segments_.back().base(), recovered.index),
      start_(recovered.mark.start),
      start_sequence_(recovered.mark.start_sequence),
      visible_(end_of(recovered.mark)),
      taken_(visible_),
      mark_counter_(recovered.mark.counter) {
    check_state();
}

Offset Stream::last_offset() const {
    if (visible_.last_record_bytes == 0) return {};
    return visible_.offset + -std::int64_t{visible_.last_record_bytes};
}

Appended Stream::append(std::span<const NewEvent> events, WallTime now) {
    // In locals: for all that the compiler knows, the bytes written below might be members.
    StreamEnd end = taken_;
    const Offset synced = visible_.offset;
    const std::uint32_t seed = seed_;
    const bool restored = !events.empty() && events.front().enqueued;
    if (!restored) end.last_time = std::max(end.last_time, now);
    auto behind = static_cast<std::uint32_t>(events.size());
    std::uint32_t index = 0;
    for (const auto& event : events) {
        if (restored) {
            end.last_time = std::max(end.last_time, std::min(event.enqueued.value_or(now), now));
        }
        const std::size_t size = stored_bytes(event.key.size(), event.body.size());
        const Record record{end.sequence, end.offset, end.last_time, index++,
                            --behind,     synced,     event.key,     event.body};
        index_.note({record.offset, record.sequence, record.enqueued});
        encode(record, seed, tail_.append(size));
        end.last_record_bytes = static_cast<std::uint32_t>(size);
        end.sequence = end.sequence + 1;
        end.offset = end.offset + static_cast<std::int64_t>(size);
    }
    const SequenceNumber first = taken_.sequence;
    taken_ = end;
    check_state();
    return {first, end.sequence + -1, end.offset + -std::int64_t{end.last_record_bytes},
            end.last_time};
}

std::uint64_t Stream::active_bytes() const {
    return static_cast<std::uint64_t>(taken_.offset.value - segments_.back().base().value);
}

bool Stream::is_full(std::uint64_t more) const {
    return active_bytes() + more > options_.segment_bytes_max;
}

void Stream::start_segment() {
    segments_.add({taken_.sequence, taken_.offset}, {taken_.last_record_bytes, taken_.last_time});
    tail_.break_chunk();
    index_.start_segment(taken_.offset);
}

std::vector<FlushPart> Stream::parts(Offset end, bool rewrite) const {
    std::vector<FlushPart> parts;
    const auto pending = index_.pending();
    auto entry = pending.begin();
    Offset at = visible_.offset;
    for (std::size_t i = segments_.holding(at); i < segments_.size(); ++i) {
        const auto& segment = segments_[i];
        if (segment.base() > end) break;
        const Offset part_end =
            std::min(end, i + 1 < segments_.size() ? segments_[i + 1].base() : taken_.offset);
        const bool create = !segment.exists || (rewrite && segment.base() == visible_.offset);
        FlushPart part{segment.header, create, at, {}, {}};
        while (at < part_end) {
            part.pieces.push_back(tail_.piece(at, part_end));
            at = part.pieces.back().to;
        }
        for (; entry != pending.end() && entry->offset < part_end; ++entry) {
            part.index.push_back(*entry);
        }
        if (part.create || !part.pieces.empty()) parts.push_back(std::move(part));
    }
    return parts;
}

void Stream::take_flushed(const FlushPart& part) {
    if (part.create) segments_.set_created(part.header.name.base);
    index_.show(part.index, part.create);
}

void Stream::show(const StreamEnd& end) {
    visible_ = end;
    index_.settle(end.offset);
    check_state();
}

void Stream::cut() {
    segments_.remove_uncreated();
    tail_.cut(visible_.offset);
    index_.cut(segments_.back().base());
    taken_ = visible_;
    check_state();
}

void Stream::set_start(Offset start, SequenceNumber sequence) {
    if (start <= start_) return;
    start_ = start;
    start_sequence_ = sequence;
}

Mark Stream::next_mark(const StreamEnd& end, std::uint64_t counter_step) {
    mark_counter_ += counter_step;
    return {mark_counter_, start_,        start_sequence_,      end.offset,
            end.sequence,  end.last_time, end.last_record_bytes};
}

void Stream::check_state() const {
    EK_CHECK(taken_.offset == tail_.end(), "the tail ends where the stream does");
    EK_CHECK(visible_.offset <= taken_.offset, "readers see nothing that was not taken");
    EK_CHECK(visible_.sequence <= taken_.sequence, "a number is given out once");
    EK_CHECK(visible_.last_time <= taken_.last_time, "enqueued times do not fall");
    EK_CHECK(segments_.back().base() <= taken_.offset, "the last segment takes the next event");
}

}  // namespace evenkeel::commitlog
