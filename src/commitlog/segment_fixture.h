// A segment file with records in it, for the tests beside it.
#pragma once

#include <string>
#include <vector>

#include "commitlog/read.h"
#include "commitlog/segment.h"
#include "io/sim/disk.h"

namespace evenkeel::commitlog {

inline constexpr std::uint32_t fixture_seed = 77;

struct SegmentFixture {
    static constexpr std::uint32_t seed = fixture_seed;
    static constexpr SegmentName name{{100}, {6400}};

    // One record for each body, numbered from 100 on, one second apart.
    explicit SegmentFixture(const std::vector<std::string>& bodies) {
        std::vector<std::byte> bytes(segment_header_bytes);
        SequenceNumber sequence = name.base_sequence;
        for (const auto& body : bodies) {
            const Record record{sequence, end, {sequence.value * 1000}, 0, 0,
                                {0},      {},  as_bytes(body)};
            offsets.push_back(end);
            const std::size_t at = bytes.size();
            bytes.resize(at + stored_bytes(record));
            encode(record, seed, bytes.data() + at);
            end = end + static_cast<std::int64_t>(stored_bytes(record));
            sequence = sequence + 1;
        }
        end_sequence = sequence;
        file = *disk.open(path, io::OpenMode::create);
        EK_CHECK(file->write(0, bytes).ok(), "the disk is empty");
    }

    void damage(std::size_t record, std::uint64_t byte = 60) {
        disk.flip_bit(path, file_position(name.base, offsets.at(record)) + byte, 1);
    }
    ColdRead cold_read(std::size_t bytes_max) const {
        ColdRead read;
        read.segment = segment;
        read.from = name.base;
        read.sequence = name.base_sequence;
        read.end = end;
        read.end_sequence = end_sequence;
        read.seed = seed;
        read.bytes_max = bytes_max;
        return read;
    }

    io::sim::Disk disk;
    const std::string path = "/" + log_name(name);
    std::unique_ptr<io::File> file;
    std::shared_ptr<SegmentFile> segment = std::make_shared<SegmentFile>(disk, "", name);
    std::vector<Offset> offsets;
    Offset end = name.base;
    SequenceNumber end_sequence;
};

}  // namespace evenkeel::commitlog
