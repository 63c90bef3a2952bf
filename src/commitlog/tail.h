// The end of the stream in memory: chunks of encoded records, filled on the loop, written to the
// segment file by the disk thread, and served to readers that are close to the end.
//
//   | kept for readers | being written | not yet taken by a flush |
//   start()                                                     end()
//
// A chunk's bytes are written once, by append(), before anyone else knows of them; so the disk
// thread and readers may look at them while the loop fills the bytes behind.
// Threads: the Tail is pinned to its log's loop; a Chunk's filled bytes may be read anywhere.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>

#include "base/ids.h"
#include "commitlog/index.h"
#include "commitlog/read.h"
#include "commitlog/record.h"

namespace evenkeel::commitlog {

struct Chunk {
    Chunk(Offset first, std::size_t size)
        : base(first), capacity(size), bytes(std::make_unique_for_overwrite<std::byte[]>(size)) {}

    const Offset base;
    const std::size_t capacity;
    const std::unique_ptr<std::byte[]> bytes;
};

class Tail {
public:
    static constexpr std::size_t chunk_bytes_usual = std::size_t{1} << 20;
    // What a tail of at most `tail_bytes_max` wants: it lets go of whole chunks, so that it may be
    // larger by one of them.
    static constexpr std::size_t chunk_bytes_for(std::size_t tail_bytes_max) {
        return std::clamp(tail_bytes_max / 4, chunk_bytes_min, chunk_bytes_usual);
    }

    // A tail that begins, empty, at `start`. Chunks grow up to `chunk_bytes_max`; what does not fit
    // into that has a chunk of its own.
    explicit Tail(Offset start, std::size_t chunk_bytes_max = chunk_bytes_usual)
        : start_(start), end_(start), chunk_bytes_max_(chunk_bytes_max) {}

    Offset start() const { return start_; }
    Offset end() const { return end_; }

    // Room for `bytes` more at the end, which the caller fills before anything else happens.
    std::byte* append(std::size_t bytes);
    // Starts the next chunk afresh: records of two segments do not share a chunk.
    void break_chunk() { broken_ = true; }
    // Forgets what lies at or behind `end`: it never became durable.
    void cut(Offset end);
    // Lets go of the oldest chunks below `durable` until at most `bytes_max` are kept.
    void shrink(Offset durable, std::size_t bytes_max);

    // A piece [from, to) of one chunk, for the disk thread.
    struct Piece {
        std::shared_ptr<const Chunk> chunk;
        Offset from;
        Offset to;
        ByteView bytes() const;
    };
    // The piece that begins at `from` and ends at `to` or with its chunk.
    Piece piece(Offset from, Offset to) const;
    // The records from `from`, which is in [start(), to), to `to` or the end of their chunk.
    Slice slice(Offset from, Offset to) const;
    // Where a forward scan for the target may begin: the last chunk that starts before it. None if
    // the target may lie before start().
    std::optional<Offset> scan_start(const Target& target, Offset to) const;

private:
    // A partition that gets an event now and then should cost little memory, a busy one few chunks.
    static constexpr std::size_t chunk_bytes_min = std::size_t{4} << 10;

    struct Held {
        std::shared_ptr<Chunk> chunk;
        std::size_t used = 0;
    };
    std::size_t find(Offset offset) const;

    std::deque<Held> chunks_;
    Offset start_;
    Offset end_;
    const std::size_t chunk_bytes_max_;
    std::size_t next_capacity_ = 0;
    bool broken_ = false;
};

}  // namespace evenkeel::commitlog
