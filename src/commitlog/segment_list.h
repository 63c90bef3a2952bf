// The segments of a log, by offset: those on disk, then those that a flush has still to create.
//
//   [sealed] [sealed] [active] [not created yet] ...
//
// There is always one. It is the active one that takes the next append, or its last successor.
// Ownership: holds the open files of readers weakly; a file is closed when its last reader goes.
// Threads: part of Log, on its loop.
// Failure: none; opening a file is left to the reader that gets it.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "commitlog/recovery.h"
#include "commitlog/segment.h"

namespace evenkeel::commitlog {

class SegmentList {
public:
    struct Entry {
        SegmentHeader header;
        bool floor_known = true;
        bool lost = false;
        bool exists = true;  // false until a flush has created it
        mutable std::weak_ptr<SegmentFile> file;

        Offset base() const { return header.name.base; }
    };

    SegmentList(io::FileSystem& files, std::string directory, const LogIdentity& identity,
                const std::vector<RecoveredSegment>& recovered);

    std::size_t size() const { return entries_.size(); }
    const Entry& operator[](std::size_t index) const { return entries_[index]; }
    const Entry& front() const { return entries_.front(); }
    const Entry& back() const { return entries_.back(); }
    // The place of the segment that holds `offset`, or will hold it if it is the end.
    std::size_t holding(Offset offset) const;
    // The newest enqueued time in a segment, or a later one; `newest` is that of the whole log.
    WallTime last_time(std::size_t index, WallTime newest) const;
    // For a reader: the same file for all who read it at a time.
    std::shared_ptr<SegmentFile> file(std::size_t index) const;

    // A segment behind all others; `before` describes the event in front of it.
    struct EventBefore {
        std::uint32_t record_bytes = 0;
        WallTime time{0};
    };
    void add(const SegmentName& name, const EventBefore& before);
    // A flush has created the segment with this base.
    void set_created(Offset base);
    // Forgets those that were never created.
    void remove_uncreated();
    // Whether a segment lies below `start` as a whole and may go: its successor exists.
    bool has_below(Offset start) const;
    // Forgets those segments; the last one that exists always stays: it keeps the numbers (LOG-4).
    std::vector<SegmentName> remove_below(Offset start);

private:
    void check_state() const;

    io::FileSystem& files_;
    const std::string directory_;
    const LogIdentity identity_;
    std::deque<Entry> entries_;
};

}  // namespace evenkeel::commitlog
