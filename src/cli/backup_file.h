// A back-up of an event hub in one file: settings, then the events of each partition in their
// order. Written once from front to back, read from front to back. Format: docs/formats/backup.md.
//
//   | magic, version | hub | events ... events | end of partition 0 | events ... | end of file |
//
// Every block has a checksum, the last one also a checksum of all of them: a file that was cut off
// or changed anywhere is noticed, and how far it is good is known.
// Memory: one block at a time, about 1 MiB or one event.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "io/file.h"

namespace evenkeel::cli {

// Settings of the event hub, and what the back-up was made of.
struct BackupHub {
    std::string name;
    std::uint32_t partitions = 0;
    std::int64_t retention_ms = 0;          // 0: for ever
    std::uint64_t partition_bytes_max = 0;  // 0: no limit
    std::int64_t created_ms = 0;
    std::int64_t taken_ms = 0;  // when the back-up began
    std::vector<std::string> groups;
};

// Views of the block that is being read, or of what is to be written.
struct BackupEvent {
    std::int64_t sequence_number = 0;
    std::int64_t offset = 0;
    std::int64_t enqueued_ms = 0;
    std::string_view key;
    ByteView sections;  // as stored, without annotations of the hub
};

struct BackupPartition {
    std::uint32_t partition = 0;
    std::uint64_t events = 0;
    std::int64_t first_sequence_number = -1;  // -1: there is none
    std::int64_t last_sequence_number = -1;
};

class BackupWriter {
public:
    static constexpr std::size_t block_bytes = std::size_t{1} << 20;

    // Writes to `path`.partial, which is replaced if a back-up that failed left it.
    static Result<std::unique_ptr<BackupWriter>> create(io::FileSystem& files, std::string path,
                                                        const BackupHub& hub);
    // Removes the unfinished file.
    ~BackupWriter();

    // Partitions one after the other, each ended by end_partition(), events by sequence number.
    Result<> add(std::uint32_t partition, const BackupEvent& event);
    Result<> end_partition(std::uint32_t partition);
    // Everything is durable and has its final name when this returns.
    Result<> finish();

    std::uint64_t events() const { return events_; }
    std::uint64_t bytes() const { return position_ + block_.size(); }

private:
    BackupWriter(io::FileSystem& files, std::string path) : files_(files), path_(std::move(path)) {}
    Result<> write_block(std::uint32_t kind, ByteView payload);
    Result<> flush_events();

    io::FileSystem& files_;
    const std::string path_;
    std::unique_ptr<io::File> file_;
    std::uint64_t position_ = 0;
    std::uint32_t checksum_ = 0;  // of the blocks' checksums
    std::vector<std::byte> block_;
    BackupPartition current_;
    std::uint32_t partitions_ended_ = 0;
    std::uint32_t partitions_ = 0;
    std::uint64_t events_ = 0;
    bool finished_ = false;
};

class BackupReader {
public:
    // Reads the settings. `unsupported` for a newer version, `corrupt` for what is no back-up.
    static Result<std::unique_ptr<BackupReader>> open(io::FileSystem& files,
                                                      const std::string& path);

    const BackupHub& hub() const { return hub_; }

    struct Item {
        enum class Kind : std::uint8_t { event, partition_end, end };
        Kind kind = Kind::end;
        std::uint32_t partition = 0;
        BackupEvent event = {};
        BackupPartition ended = {};
    };
    // `corrupt` says what is wrong and which events before it are good. Views live until the next
    // call.
    Result<Item> next();

private:
    struct Block {
        std::uint32_t kind = 0;
        ByteView payload;
    };
    explicit BackupReader(std::unique_ptr<io::File> file) : file_(std::move(file)) {}
    Result<Block> read_block();
    Result<> read_header();
    Result<Item> take_event();
    Result<Item> take_partition_end(ByteView payload);
    Result<Item> take_end(ByteView payload);
    Error damaged(std::string_view why) const;

    std::unique_ptr<io::File> file_;
    std::uint64_t size_ = 0;
    std::uint64_t position_ = 0;
    std::uint32_t checksum_ = 0;
    BackupHub hub_;
    std::vector<std::byte> block_;
    ByteView events_left_;  // of the block of events that is being read
    std::uint32_t count_left_ = 0;
    BackupPartition current_;
    std::uint64_t events_ = 0;
    bool ended_ = false;
};

}  // namespace evenkeel::cli
