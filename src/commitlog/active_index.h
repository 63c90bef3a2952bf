// The sparse index of the segment that is being written: entries of records that readers can see,
// and entries that wait for their records to become durable.
//
//   | entries(): active segment, visible | pending(): not flushed yet, any segment |
//
// Threads: part of Log, on its loop. The file is written by the Writer; see commitlog/index.h.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "commitlog/index.h"

namespace evenkeel::commitlog {

class ActiveIndex {
public:
    // `base` is that of the active segment, whose entries recovery has found.
    ActiveIndex(std::uint64_t distance, Offset base, std::vector<IndexEntry> entries);

    // A record was taken: it gets an entry if the last one is far enough away.
    void note(const IndexEntry& record) {
        if (record.offset < next_) return;
        pending_.push_back(record);
        next_ = record.offset + distance_;
    }
    // The records from `base` on go to a new segment; the first ones need no entry.
    void start_segment(Offset base) { next_ = base + distance_; }

    std::span<const IndexEntry> pending() const { return pending_; }
    // Those records are visible now. `created`: they are the first ones of their segment.
    void show(std::span<const IndexEntry> flushed, bool created);
    // Whatever still waits below `visible` was flushed.
    void settle(Offset visible);
    // Forgets what waits: it never became durable. `base` is that of the active segment.
    void cut(Offset base);

    // The last visible record from which a scan forward meets the target; none: from the base.
    std::optional<IndexEntry> floor(const Target& target) const;

private:
    void set_next(Offset base);
    void check_state() const;

    const std::int64_t distance_;
    std::vector<IndexEntry> entries_;
    std::vector<IndexEntry> pending_;
    Offset next_;  // the record from there on gets the next entry
};

}  // namespace evenkeel::commitlog
