// A segment: one file with a part of a partition's stream, records one after the other behind a
// header of 64 bytes. The file is named after its first sequence number and offset, so that a
// damaged header costs nothing but its report:
//
//   00000000000000001000-00000000000000064000.log    events from number 1000 on, stream from 64,000
//   00000000000000001000-00000000000000064000.idx    its sparse index (commitlog/index.h), a hint
//
//   0 magic 8 | 8 crc u32 | 12 version u16 | 14 zero u16 | 16 incarnation 16 | 32 partition u32
//   36 last bytes u32 | 40 base sequence i64 | 48 base offset i64 | 56 floor time ms i64
//
// "last bytes" and "floor time" describe the event before the segment: they keep last offset and
// last enqueued time when retention has emptied the log. docs/formats/segment.md has it all.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/guarded.h"
#include "base/ids.h"
#include "commitlog/record.h"
#include "io/file.h"

namespace evenkeel::commitlog {

inline constexpr std::size_t segment_header_bytes = 64;

struct SegmentName {
    SequenceNumber base_sequence{0};
    Offset base{0};
    bool operator==(const SegmentName&) const = default;
};

std::string log_name(const SegmentName& name);
std::string index_name(const SegmentName& name);
// The name in "….log" or "….idx"; `suffix` is ".log" or ".idx".
std::optional<SegmentName> parse_segment_name(std::string_view file_name, std::string_view suffix);

struct SegmentHeader {
    SegmentName name;
    Incarnation incarnation{};
    PartitionId partition;
    std::uint32_t last_record_bytes = 0;  // of the event before the first one here; 0 if none
    WallTime floor_time{0};               // of the same event; 0 if none
};

std::array<std::byte, segment_header_bytes> encode(const SegmentHeader& header, std::uint32_t seed);
// The version that a header names, if its checksum holds; whatever its magic says, which a version
// to come may change.
std::optional<std::uint16_t> segment_version(ByteView bytes);
// A good header, whoever's it is: its checksum is seeded with the identity it names.
std::optional<SegmentHeader> decode_segment_header(ByteView bytes);

constexpr std::uint64_t file_position(Offset base, Offset offset) {
    return segment_header_bytes + static_cast<std::uint64_t>(offset.value - base.value);
}

// A segment's file for readers: opened when first needed, closed when the last reader lets go of
// it. Threads: any; a file that retention has unlinked stays readable for those who hold it.
class SegmentFile {
public:
    SegmentFile(io::FileSystem& files, std::string directory, SegmentName name)
        : files_(files), directory_(std::move(directory)), name_(name) {}

    Result<io::File*> open();
    // Null until it was opened; never blocks.
    io::File* if_open() const { return opened_.load(std::memory_order_acquire); }
    io::FileSystem& files() const { return files_; }
    const SegmentName& name() const { return name_; }
    std::string log_path() const { return directory_ + "/" + log_name(name_); }
    std::string index_path() const { return directory_ + "/" + index_name(name_); }

private:
    io::FileSystem& files_;
    const std::string directory_;
    const SegmentName name_;
    Guarded<std::unique_ptr<io::File>> file_;
    std::atomic<io::File*> opened_ = nullptr;  // the same, for those who may not wait
};

}  // namespace evenkeel::commitlog
