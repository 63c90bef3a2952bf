#include <algorithm>

#include <fmt/core.h>

#include "base/log.h"
#include "commitlog/log.h"

namespace evenkeel::commitlog {
namespace {

constexpr std::size_t damages_max = 1000;

}  // namespace

Result<Cursor> Log::seek(const Position& position) const {
    context_.loop.check_here();
    const LogProperties now = properties();
    const std::int64_t beyond = position.inclusive ? 0 : 1;
    Cursor cursor{start_, start_sequence_, std::nullopt, false, nullptr};
    const Cursor end{visible_, visible_sequence_, std::nullopt, false, nullptr};
    switch (position.kind) {
        case Position::Kind::earliest: return cursor;
        case Position::Kind::latest: return end;
        case Position::Kind::offset:
            if (position.value == -1) return cursor;
            if (position.value < -1 || position.value > now.last_offset.value) {
                return Error{ErrorCode::invalid_argument,
                             fmt::format("The supplied offset '{}' is invalid. The last offset in "
                                         "the system is '{}'",
                                         position.value, now.last_offset.value)};
            }
            if (position.value + beyond > now.last_offset.value) return end;
            cursor.target = Target{Target::Field::offset, position.value + beyond};
            break;
        case Position::Kind::sequence_number:
            if (position.value == -1) return cursor;
            if (position.value < -1 || position.value > now.last_sequence.value) {
                return Error{ErrorCode::invalid_argument,
                             fmt::format("The supplied sequence number '{}' is invalid. The last "
                                         "sequence number in the system is '{}'",
                                         position.value, now.last_sequence.value)};
            }
            if (position.value + beyond > now.last_sequence.value) return end;
            cursor.target = Target{Target::Field::sequence, position.value + beyond};
            break;
        case Position::Kind::enqueued_time:
            cursor.target = Target{Target::Field::enqueued, position.value + beyond};
            break;
    }
    cursor.search = true;
    return cursor;
}

// Moves a searching cursor as close to its target as memory knows: to its segment at least.
void Log::place(Cursor& cursor) {
    const Target& target = *cursor.target;
    // The last segment that begins before the target; one event earlier is passed over quickly.
    std::size_t index = segment_of(cursor.next);
    while (index + 1 < segments_.size()) {
        const SegmentHeader& next = segments_[index + 1].header;
        if (next.name.base > visible_ || !segments_[index + 1].exists) break;
        bool before = false;
        switch (target.field) {
            case Target::Field::offset: before = next.name.base.value <= target.value; break;
            case Target::Field::sequence:
                before = next.name.base_sequence.value <= target.value;
                break;
            case Target::Field::enqueued:
                before =
                    segments_[index + 1].floor_known && next.floor_time.milliseconds < target.value;
                break;
        }
        if (!before) break;
        ++index;
    }
    const SegmentName& name = segments_[index].header.name;
    if (name.base > cursor.next) {
        cursor.next = name.base;
        cursor.sequence = name.base_sequence;
    }
    if (const auto start = tail_.scan_start(target, visible_); start && *start >= cursor.next) {
        cursor.next = *start;
        cursor.sequence = (*tail_.slice(*start, visible_).begin()).sequence;
        cursor.search = false;
        return;
    }
    if (index + 1 == segments_.size() || !segments_[index + 1].exists) {
        const auto entry = floor_entry(index_, target);
        if (entry >= 0 && index_[static_cast<std::size_t>(entry)].offset > cursor.next) {
            cursor.next = index_[static_cast<std::size_t>(entry)].offset;
            cursor.sequence = index_[static_cast<std::size_t>(entry)].sequence;
        }
        // The index in memory was built from good records; no other search will do better.
        cursor.search = false;
    }
}

ReadStep Log::read(Cursor& cursor, std::size_t bytes_max) {
    context_.loop.check_here();
    while (true) {
        if (cursor.next < start_) {  // retention was faster: go on with the first event there is
            cursor.next = start_;
            cursor.sequence = start_sequence_;
        }
        // A search may end at a segment that is still empty: there is nothing to read yet.
        if (cursor.search && cursor.next < visible_) place(cursor);
        if (cursor.next >= visible_) return std::monostate();
        if (cursor.next < tail_.start()) return cold_read(cursor, bytes_max);
        cursor.search = false;  // in memory the target is met by going forward

        Slice slice = tail_.slice(cursor.next, visible_);
        const auto whole = static_cast<std::int64_t>(slice.bytes().size());
        if (cursor.target) slice = slice.from(*cursor.target);
        const auto passed = whole - static_cast<std::int64_t>(slice.bytes().size());
        if (slice.empty()) {
            // All of it comes before the target; the next chunk tells its own number.
            cursor.next = cursor.next + whole;
            cursor.sequence = cursor.next < visible_
                                  ? (*tail_.slice(cursor.next, visible_).begin()).sequence
                                  : visible_sequence_;
            continue;
        }
        slice = slice.first(bytes_max);
        const SequenceNumber first = (*slice.begin()).sequence;
        cursor.next = cursor.next + passed + static_cast<std::int64_t>(slice.bytes().size());
        cursor.target.reset();
        cursor.file.reset();
        cursor.sequence = cursor.next < visible_
                              ? (*tail_.slice(cursor.next, visible_).begin()).sequence
                              : visible_sequence_;
        EK_CHECK(cursor.sequence > first, "a slice moves its reader on");
        return slice;
    }
}

ColdRead Log::cold_read(Cursor& cursor, std::size_t bytes_max) {
    const std::size_t index = segment_of(cursor.next);
    Segment& segment = segments_[index];
    cursor.file = file_of(segment);
    ColdRead read;
    read.segment = cursor.file;
    read.from = cursor.next;
    read.sequence = cursor.sequence;
    read.search = cursor.search;
    read.lost = segment.lost;
    read.target = cursor.target;
    read.end = std::min(segment_end(index), visible_);
    read.end_sequence = read.end == visible_ ? visible_sequence_ : segment_end_sequence(index);
    read.seed = seed_;
    read.bytes_max = bytes_max;
    return read;
}

void Log::advance(Cursor& cursor, const ReadOutcome& outcome) {
    context_.loop.check_here();
    if (outcome.next > cursor.next) {
        cursor.next = outcome.next;
        cursor.sequence = outcome.next_sequence;
    }
    cursor.search = false;
    if (!outcome.events.empty()) cursor.target.reset();
    if (outcome.damage) {
        context_.metrics.damages.add();
        const bool known =
            std::find(damages_.begin(), damages_.end(), *outcome.damage) != damages_.end();
        if (!known) {
            trace(TraceLevel::error, to_string(*outcome.damage));
            if (damages_.size() < damages_max) damages_.push_back(*outcome.damage);
        }
    }
}

Log::WaitId Log::wait(const Cursor& cursor, Task task) {
    context_.loop.check_here();
    const WaitId id{++last_wait_};
    if (cursor.next < visible_) {
        task();
        return id;
    }
    waiters_.push_back({id, std::move(task)});
    return id;
}

void Log::cancel(WaitId wait) {
    context_.loop.check_here();
    std::erase_if(waiters_, [&](const Waiter& waiter) { return waiter.id == wait; });
}

// Index of the segment that holds `offset`, or will hold it if it is the end.
std::size_t Log::segment_of(Offset offset) const {
    const auto after = std::upper_bound(
        segments_.begin(), segments_.end(), offset,
        [](Offset wanted, const Segment& segment) { return wanted < segment.header.name.base; });
    EK_CHECK(after != segments_.begin(), "an offset below the first segment is moved up first");
    return static_cast<std::size_t>(after - segments_.begin()) - 1;
}

Offset Log::segment_end(std::size_t index) const {
    return index + 1 < segments_.size() ? segments_[index + 1].header.name.base : visible_;
}

SequenceNumber Log::segment_end_sequence(std::size_t index) const {
    return index + 1 < segments_.size() ? segments_[index + 1].header.name.base_sequence
                                        : visible_sequence_;
}

std::shared_ptr<SegmentFile> Log::file_of(Segment& segment) {
    auto file = segment.file.lock();
    if (!file) {
        file = std::make_shared<SegmentFile>(context_.files, directory_, segment.header.name);
        segment.file = file;
    }
    return file;
}

}  // namespace evenkeel::commitlog
