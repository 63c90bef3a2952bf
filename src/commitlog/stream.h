// A partition's stream as its log knows it: the segments it lies in, its end in memory, where it
// begins, how far readers can see, and the numbers that come next.
//
//   | removed | readable              | taken, not durable yet |
//             start()                 visible()                taken()
//
// Invariants
//   LOG-1  Sequence numbers are dense; a batch is contiguous, in one segment, all or nothing.
//   LOG-4  A number that was acknowledged or seen is never given out again, nor an offset.
//   LOG-5  Enqueued times never fall within a partition.
// Ownership: owned by its log; readers and removals hold a reference to it.
// Threads: part of Log, on its loop.
// Failure: none; the disk is the Writer's matter, and what it refused is cut off again.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "commitlog/active_index.h"
#include "commitlog/mark.h"
#include "commitlog/recovery.h"
#include "commitlog/segment_list.h"
#include "commitlog/tail.h"
#include "commitlog/writer.h"

namespace evenkeel::commitlog {

struct NewEvent {
    ByteView key;   // partition key; may be empty
    ByteView body;  // encoded AMQP sections
    // Of an event that is restored: when it was enqueued first. LOG-5 holds nevertheless: a time
    // that lies before the event before it, or after now, is moved there.
    std::optional<WallTime> enqueued = {};
};

struct Appended {
    SequenceNumber first;
    SequenceNumber last;
    Offset last_offset;
    WallTime enqueued;
};

// A place between two events.
struct StreamEnd {
    Offset offset{0};
    SequenceNumber sequence{0};           // of the event behind it
    WallTime last_time{0};                // of the event before it; 0 if none
    std::uint32_t last_record_bytes = 0;  // of the same event
};

struct StreamOptions {
    std::uint64_t segment_bytes_max = 0;
    std::uint64_t index_distance = 0;
    std::size_t chunk_bytes_max = Tail::chunk_bytes_usual;
};

class Stream {
public:
    Stream(io::FileSystem& files, const std::string& directory, const LogIdentity& identity,
           const StreamOptions& options, const Recovered& recovered);

    const SegmentList& segments() const { return segments_; }
    const Tail& tail() const { return tail_; }
    const ActiveIndex& index() const { return index_; }
    std::uint32_t seed() const { return seed_; }
    Offset start() const { return start_; }
    SequenceNumber start_sequence() const { return start_sequence_; }
    const StreamEnd& visible() const { return visible_; }
    const StreamEnd& taken() const { return taken_; }
    SequenceNumber last_sequence() const { return visible_.sequence + -1; }
    Offset last_offset() const;  // of the last visible event

    // Numbers the events and encodes them into the tail. `now` is the wall clock.
    Appended append(std::span<const NewEvent> events, WallTime now);
    // What the segment that takes the next append holds already, and whether that is enough.
    std::uint64_t active_bytes() const;
    bool is_full(std::uint64_t more) const;
    // Everything from taken() on goes to a new segment. It exists once a flush has created it.
    void start_segment();

    // What is to be written from visible() to `end`, one part for each segment. `rewrite`: a file
    // in which nothing is durable yet is written again from its header on.
    std::vector<FlushPart> parts(Offset end, bool rewrite) const;
    // The part is on disk; nobody sees it before show().
    void take_flushed(const FlushPart& part);
    // What lies before `end` is durable: readers may see it, and memory may let go of it.
    void show(const StreamEnd& end);
    void shrink(std::size_t tail_bytes_max) { tail_.shrink(visible_.offset, tail_bytes_max); }
    // What is not visible was never there (LOG-6). Nobody has seen its numbers.
    void cut();

    // Events before `start` are gone. Never goes back.
    void set_start(Offset start, SequenceNumber sequence);
    std::vector<SegmentName> remove_below_start() { return segments_.remove_below(start_); }

    // The mark that says how things stand when the stream is durable up to `end`.
    Mark next_mark(const StreamEnd& end, std::uint64_t counter_step);

private:
    void check_state() const;

    const std::uint32_t seed_;
    const StreamOptions options_;
    SegmentList segments_;
    Tail tail_;
    ActiveIndex index_;
    Offset start_{0};
    SequenceNumber start_sequence_{0};
    StreamEnd visible_;
    StreamEnd taken_;
    std::uint64_t mark_counter_ = 0;
};

}  // namespace evenkeel::commitlog
