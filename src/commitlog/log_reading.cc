#include "commitlog/log_reading.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/check.h"
#include "base/log.h"

namespace evenkeel::commitlog {
namespace {

constexpr std::size_t damages_max = 1000;

}  // namespace

Result<Cursor> LogReading::seek(const Position& position) const {
    context_.loop.check_here();
    const std::int64_t last_offset = stream_.last_offset().value;
    const std::int64_t last_sequence = stream_.last_sequence().value;
    const std::int64_t beyond = position.inclusive ? 0 : 1;
    Cursor cursor{stream_.start(), stream_.start_sequence(), std::nullopt, false, nullptr};
    const Cursor end{stream_.visible().offset, stream_.visible().sequence, std::nullopt, false,
                     nullptr};
    switch (position.kind) {
        case Position::Kind::earliest: return cursor;
        case Position::Kind::latest: return end;
        case Position::Kind::offset:
            if (position.value == -1) return cursor;
            if (position.value < -1 || position.value > last_offset) {
                return Error{ErrorCode::invalid_argument,
                             fmt::format("The supplied offset '{}' is invalid. The last offset in "
                                         "the system is '{}'",
                                         position.value, last_offset)};
            }
            if (position.value + beyond > last_offset) return end;
            cursor.target = Target{Target::Field::offset, position.value + beyond};
            break;
        case Position::Kind::sequence_number:
            if (position.value == -1) return cursor;
            if (position.value < -1 || position.value > last_sequence) {
                return Error{ErrorCode::invalid_argument,
                             fmt::format("The supplied sequence number '{}' is invalid. The last "
                                         "sequence number in the system is '{}'",
                                         position.value, last_sequence)};
            }
            if (position.value + beyond > last_sequence) return end;
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
void LogReading::place(Cursor& cursor) const {
    const Target& target = *cursor.target;
    const Offset visible = stream_.visible().offset;
    const SegmentList& segments = stream_.segments();
    const std::size_t index = segment_for(target, cursor.next);
    const SegmentName& name = segments[index].header.name;
    if (name.base > cursor.next) {
        cursor.next = name.base;
        cursor.sequence = name.base_sequence;
    }
    if (const auto start = stream_.tail().scan_start(target, visible);
        start && *start >= cursor.next) {
        cursor.next = *start;
        cursor.sequence = sequence_at(*start);
        cursor.search = false;
        return;
    }
    if (index + 1 == segments.size() || !segments[index + 1].exists) {
        const auto entry = stream_.index().floor(target);
        if (entry && entry->offset > cursor.next) {
            cursor.next = entry->offset;
            cursor.sequence = entry->sequence;
        }
        // The index in memory was built from good records; no other search will do better.
        cursor.search = false;
    }
}

// The last segment that begins before the target; one event earlier is passed over quickly.
std::size_t LogReading::segment_for(const Target& target, Offset from) const {
    const SegmentList& segments = stream_.segments();
    std::size_t index = segments.holding(from);
    while (index + 1 < segments.size()) {
        const SegmentList::Entry& next = segments[index + 1];
        if (next.base() > stream_.visible().offset || !next.exists) break;
        bool before = false;
        switch (target.field) {
            case Target::Field::offset: before = next.base().value <= target.value; break;
            case Target::Field::sequence:
                before = next.header.name.base_sequence.value <= target.value;
                break;
            case Target::Field::enqueued:
                before = next.floor_known && next.header.floor_time.milliseconds < target.value;
                break;
        }
        if (!before) break;
        ++index;
    }
    return index;
}

ReadStep LogReading::read(Cursor& cursor, std::size_t bytes_max) const {
    context_.loop.check_here();
    const Offset visible = stream_.visible().offset;
    const Tail& tail = stream_.tail();
    while (true) {
        if (cursor.next < stream_.start()) {  // retention was faster: go on with the first event
            cursor.next = stream_.start();
            cursor.sequence = stream_.start_sequence();
        }
        // A search may end at a segment that is still empty: there is nothing to read yet.
        if (cursor.search && cursor.next < visible) place(cursor);
        if (cursor.next >= visible) return std::monostate();
        if (cursor.next < tail.start()) return cold_read(cursor, bytes_max);
        cursor.search = false;  // in memory the target is met by going forward

        Slice slice = tail.slice(cursor.next, visible);
        const auto whole = static_cast<std::int64_t>(slice.bytes().size());
        if (cursor.target) slice = slice.from(*cursor.target);
        const auto passed = whole - static_cast<std::int64_t>(slice.bytes().size());
        if (slice.empty()) {
            // All of it comes before the target; the next chunk tells its own number.
            cursor.next = cursor.next + whole;
            cursor.sequence = sequence_at(cursor.next);
            continue;
        }
        slice = slice.first(bytes_max);
        const SequenceNumber first = (*slice.begin()).sequence;
        cursor.next = cursor.next + passed + static_cast<std::int64_t>(slice.bytes().size());
        cursor.target.reset();
        cursor.file.reset();
        cursor.sequence = sequence_at(cursor.next);
        EK_CHECK(cursor.sequence > first, "a slice moves its reader on");
        return slice;
    }
}

// The number of the event at a place in memory, or of the one that comes next.
SequenceNumber LogReading::sequence_at(Offset offset) const {
    const StreamEnd& visible = stream_.visible();
    if (offset >= visible.offset) return visible.sequence;
    return (*stream_.tail().slice(offset, visible.offset).begin()).sequence;
}

ColdRead LogReading::cold_read(Cursor& cursor, std::size_t bytes_max) const {
    const SegmentList& segments = stream_.segments();
    const StreamEnd& visible = stream_.visible();
    const std::size_t index = segments.holding(cursor.next);
    cursor.file = segments.file(index);
    ColdRead read;
    read.segment = cursor.file;
    read.from = cursor.next;
    read.sequence = cursor.sequence;
    read.search = cursor.search;
    read.lost = segments[index].lost;
    read.target = cursor.target;
    read.end = visible.offset;
    read.end_sequence = visible.sequence;
    if (index + 1 < segments.size() && segments[index + 1].base() < visible.offset) {
        read.end = segments[index + 1].base();
        read.end_sequence = segments[index + 1].header.name.base_sequence;
    }
    read.seed = stream_.seed();
    read.bytes_max = bytes_max;
    return read;
}

void LogReading::advance(Cursor& cursor, const ReadOutcome& outcome) {
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

LogReading::WaitId LogReading::wait(const Cursor& cursor, Task task) {
    context_.loop.check_here();
    const WaitId id{++last_wait_};
    if (cursor.next < stream_.visible().offset) {
        task();
        return id;
    }
    waiters_.push_back({id, std::move(task)});
    check_state();
    return id;
}

void LogReading::cancel(WaitId wait) {
    context_.loop.check_here();
    std::erase_if(waiters_, [&](const Waiter& waiter) { return waiter.id == wait; });
}

void LogReading::wake() {
    // One at a time: a task may cancel another's wait, or wait again.
    const WaitId last{last_wait_};
    while (!waiters_.empty() && waiters_.front().id <= last) {
        Waiter waiter = std::move(waiters_.front());
        waiters_.pop_front();
        waiter.task();
    }
}

void LogReading::check_state() const {
    const bool newest = waiters_.empty() || waiters_.back().id <= WaitId{last_wait_};
    EK_CHECK(newest, "waits are numbered in turn");
    EK_CHECK(waiters_.empty() || waiters_.front().id <= waiters_.back().id, "waits are by number");
}

}  // namespace evenkeel::commitlog
