#include "commitlog/tail.h"

#include <algorithm>

#include "base/check.h"

namespace evenkeel::commitlog {

std::byte* Tail::append(std::size_t bytes) {
    Held* last = chunks_.empty() ? nullptr : &chunks_.back();
    if (!last || broken_ || last->chunk->capacity - last->used < bytes) {
        next_capacity_ = std::clamp(next_capacity_ * 2, chunk_bytes_min, chunk_bytes_max_);
        chunks_.push_back({std::make_shared<Chunk>(end_, std::max(bytes, next_capacity_)), 0});
        last = &chunks_.back();
        broken_ = false;
    }
    std::byte* const at = last->chunk->bytes.get() + last->used;
    last->used += bytes;
    end_ = end_ + static_cast<std::int64_t>(bytes);
    return at;
}

void Tail::cut(Offset end) {
    EK_CHECK(end >= start_ && end <= end_, "a tail is cut within itself");
    while (!chunks_.empty() && chunks_.back().chunk->base >= end) chunks_.pop_back();
    if (!chunks_.empty()) {
        Held& last = chunks_.back();
        last.used =
            std::min(last.used, static_cast<std::size_t>(end.value - last.chunk->base.value));
        // The bytes behind the cut may still be under way to the disk: never fill them again.
        broken_ = true;
    }
    end_ = end;
}

void Tail::shrink(Offset durable, std::size_t bytes_max) {
    while (chunks_.size() > 1 && chunks_[1].chunk->base <= durable &&
           static_cast<std::size_t>(end_.value - start_.value) > bytes_max) {
        chunks_.pop_front();
        start_ = chunks_.front().chunk->base;
    }
}

ByteView Tail::Piece::bytes() const {
    return {chunk->bytes.get() + (from.value - chunk->base.value),
            static_cast<std::size_t>(to.value - from.value)};
}

Tail::Piece Tail::piece(Offset from, Offset to) const {
    const Held& held = chunks_[find(from)];
    const Offset chunk_end = held.chunk->base + static_cast<std::int64_t>(held.used);
    return {held.chunk, from, std::min(to, chunk_end)};
}

Slice Tail::slice(Offset from, Offset to) const {
    const Piece found = piece(from, to);
    return {found.chunk, found.bytes()};
}

std::optional<Offset> Tail::scan_start(const Target& target, Offset to) const {
    std::optional<Offset> start;
    for (const Held& held : chunks_) {
        if (held.chunk->base >= to || held.used == 0) break;
        const Record first = view(held.chunk->bytes.get());
        if (target.reached_by(first)) {
            const bool itself =
                (target.field == Target::Field::offset && first.offset.value == target.value) ||
                (target.field == Target::Field::sequence && first.sequence.value == target.value);
            if (itself) start = held.chunk->base;
            break;
        }
        start = held.chunk->base;
    }
    return start;
}

std::size_t Tail::find(Offset offset) const {
    EK_CHECK(offset >= start_ && offset < end_, "only what is in memory can be found there");
    const auto after =
        std::upper_bound(chunks_.begin(), chunks_.end(), offset,
                         [](Offset wanted, const Held& held) { return wanted < held.chunk->base; });
    EK_CHECK(after != chunks_.begin(), "the first chunk begins where the tail does");
    return static_cast<std::size_t>(after - chunks_.begin()) - 1;
}

}  // namespace evenkeel::commitlog
