// What a reader gets: slices of records, from memory or from a segment file, and the damage that
// lies between them.
//
// A log answers a read on its own loop either with a Slice at once, or with a ColdRead: a plain
// value that holds all that is needed to read the file, to be performed on any thread that may
// block.
#pragma once

#include <iterator>
#include <memory>
#include <optional>
#include <string>

#include "base/ids.h"
#include "base/result.h"
#include "commitlog/index.h"
#include "commitlog/record.h"
#include "commitlog/segment.h"

namespace evenkeel::commitlog {

// Whole good records, one behind the other, and what keeps their bytes alive.
class Slice {
public:
    class Iterator {
    public:
        using iterator_category = std::input_iterator_tag;
        using value_type = Record;
        using difference_type = std::ptrdiff_t;

        Iterator() = default;
        explicit Iterator(const std::byte* at) : at_(at) {}
        Record operator*() const { return view(at_); }
        Iterator& operator++() {
            at_ += stored_bytes_at(at_);
            return *this;
        }
        Iterator operator++(int) {
            const Iterator before = *this;
            ++*this;
            return before;
        }
        bool operator==(const Iterator&) const = default;

    private:
        const std::byte* at_ = nullptr;
    };

    Slice() = default;
    Slice(std::shared_ptr<const void> owner, ByteView bytes)
        : owner_(std::move(owner)), bytes_(bytes) {}

    bool empty() const { return bytes_.empty(); }
    ByteView bytes() const { return bytes_; }
    Iterator begin() const { return Iterator(bytes_.data()); }
    Iterator end() const { return Iterator(bytes_.data() + bytes_.size()); }

    const std::shared_ptr<const void>& owner() const { return owner_; }
    // Behind the first `bytes` bytes, which are whole records.
    Slice without_first(std::size_t bytes) const { return {owner_, bytes_.subspan(bytes)}; }
    // Without the records that come before the target.
    Slice from(const Target& target) const;
    // The first records that fit into `bytes_max`, but at least one.
    Slice first(std::size_t bytes_max) const;

private:
    std::shared_ptr<const void> owner_;
    ByteView bytes_;
};

// Events [from, to) in stream positions [begin, end) that were stored and cannot be read.
struct Damage {
    SequenceNumber from;
    SequenceNumber to;
    Offset begin;
    Offset end;
    std::string file;
    bool operator==(const Damage&) const = default;
};

// "events 17 to 19 of …/0000-0000.log are damaged (stream positions 4096 to 4352)"
std::string to_string(const Damage& damage);

struct ReadOutcome {
    Slice events;
    std::optional<Damage> damage;  // directly behind the events
    Offset next;                   // behind events and damage
    SequenceNumber next_sequence;
};

struct ColdRead {
    std::shared_ptr<SegmentFile> segment;
    Offset from;              // a record's place; with `search` only a lower bound
    SequenceNumber sequence;  // of the record at `from`
    bool search = false;      // find the target's place by the segment's index first
    bool lost = false;        // the file is known to be gone
    std::optional<Target> target;
    Offset end;  // readable up to here, in this segment
    SequenceNumber end_sequence;
    std::uint32_t seed = 0;
    std::size_t bytes_max = 0;

    // Blocks; touches nothing but the segment's files. The outcome has an event, damage, or a
    // `next` that is at the end. Fails with `not_found` if retention was faster.
    Result<ReadOutcome> perform() const;
    // The same without blocking, if the file is open and the events are in memory and good; else
    // nothing, and perform() finds out.
    std::optional<ReadOutcome> perform_cached() const;

private:
    struct Start {
        Offset offset;
        SequenceNumber sequence;
    };
    // How far a block of the file has good records that come next, and where the first one is that
    // does not come before the target.
    struct Checked {
        std::size_t good = 0;
        std::size_t skipped = 0;
    };
    Checked check(ByteView block, ReadOutcome& outcome) const;
    Result<Start> find_start(io::File& file) const;
    Result<ReadOutcome> read_from(io::File& file, const Start& start) const;
    Result<Damage> measure_damage(io::File& file, Offset begin, SequenceNumber sequence) const;
    bool matters(const Damage& damage) const;
};

// The index of a segment by reading all of its good records. `distance` is in bytes.
Result<std::vector<IndexEntry>> scan_index(io::File& file, const SegmentName& name, Offset end,
                                           std::uint32_t seed, std::uint64_t distance);

inline constexpr std::uint64_t index_distance_default = std::uint64_t{64} << 10;

}  // namespace evenkeel::commitlog
