#include "commitlog/segment.h"

#include <gtest/gtest.h>

#include "io/sim/disk.h"

namespace evenkeel::commitlog {
namespace {

SegmentHeader a_header() {
    return {{{1000}, {64000}}, Incarnation{std::byte{1}}, PartitionId{2}, 72, {1234}};
}

std::array<std::byte, segment_header_bytes> encoded() {
    return encode(a_header(), checksum_seed(a_header().incarnation, a_header().partition));
}

TEST(SegmentName, holds_number_and_offset) {
    const SegmentName name{{1000}, {64000}};

    EXPECT_EQ(log_name(name), "00000000000000001000-00000000000000064000.log");
    EXPECT_EQ(index_name(name), "00000000000000001000-00000000000000064000.idx");
    EXPECT_EQ(parse_segment_name(log_name(name), ".log"), name);
    EXPECT_EQ(parse_segment_name(index_name(name), ".idx"), name);
}

TEST(SegmentName, sorts_as_its_number_does) {
    EXPECT_LT(log_name({{9}, {640}}), log_name({{10}, {720}}));
    EXPECT_LT(log_name({{99}, {640}}), log_name({{1000}, {64000}}));
}

TEST(SegmentName, is_not_guessed_from_other_names) {
    for (const char* name : {
             "",
             "mark",
             "hello.log",
             "00000000000000001000.log",
             "00000000000000001000-00000000000000064000.idx",
             "00000000000000001000-00000000000000064000.log.tmp",
             "00000000000000001000_00000000000000064000.log",
             "0000000000000000100x-00000000000000064000.log",
             "-0000000000000001000-00000000000000064000.log",
             "00000000000000001000-00000000000000064001.log",  // records lie at multiples of 8
             "99999999999999999999-00000000000000064000.log",
         }) {
        EXPECT_EQ(parse_segment_name(name, ".log"), std::nullopt) << name;
    }
}

TEST(SegmentHeader, comes_back_as_it_was) {
    const auto bytes = encoded();

    const auto header = decode_segment_header(bytes);

    ASSERT_TRUE(header.has_value());
    EXPECT_EQ(header->name, a_header().name);
    EXPECT_EQ(header->incarnation, a_header().incarnation);
    EXPECT_EQ(header->partition, a_header().partition);
    EXPECT_EQ(header->last_record_bytes, 72u);
    EXPECT_EQ(header->floor_time.milliseconds, 1234);
}

TEST(SegmentHeader, is_bad_with_any_bit_flipped_or_byte_missing) {
    const auto good = encoded();
    for (std::size_t i = 0; i < good.size() * 8; ++i) {
        auto bytes = good;
        bytes[i / 8] ^= std::byte{1} << (i % 8);
        EXPECT_FALSE(decode_segment_header(bytes).has_value()) << "bit " << i;
    }
    EXPECT_FALSE(decode_segment_header(ByteView(good).first(63)).has_value());
    EXPECT_FALSE(decode_segment_header(encode(a_header(), 77)).has_value());
}

TEST(SegmentFile, is_opened_when_needed_and_stays_readable_when_removed) {
    io::sim::Disk disk;
    const SegmentName name{{0}, {0}};
    ASSERT_TRUE((*disk.open("/" + log_name(name), io::OpenMode::create))
                    ->write(0, as_bytes("content"))
                    .ok());
    SegmentFile opened(disk, "", name);
    SegmentFile too_late(disk, "", name);

    ASSERT_TRUE(opened.open().ok());
    ASSERT_TRUE(disk.remove(opened.log_path()).ok());

    std::array<std::byte, 7> bytes{};
    const auto file = opened.open();
    ASSERT_TRUE(file.ok());
    EXPECT_EQ(*(*file)->read(0, bytes), 7u);
    EXPECT_EQ(as_text(bytes), "content");
    EXPECT_EQ(too_late.open().error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace evenkeel::commitlog
