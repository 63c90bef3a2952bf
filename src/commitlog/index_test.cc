#include "commitlog/index.h"

#include <gtest/gtest.h>

#include "commitlog/segment_fixture.h"
#include "io/sim/disk.h"

namespace evenkeel::commitlog {
namespace {

constexpr Offset base{0};
constexpr Offset end{1 << 20};
using Field = Target::Field;

// Entries 100 bytes and 10 events apart; two at each time.
std::vector<IndexEntry> an_index(int count) {
    std::vector<IndexEntry> index;
    for (int i = 1; i <= count; ++i) index.push_back({{i * 104}, {i * 10}, {(i / 2) * 1000}});
    return index;
}

std::vector<std::byte> encoded(const std::vector<IndexEntry>& index) {
    std::vector<std::byte> bytes;
    for (const auto& entry : index) append_encoded(entry, fixture_seed, bytes);
    return bytes;
}

TEST(Index, comes_back_as_it_was) {
    const auto index = an_index(5);

    EXPECT_EQ(decode_index(encoded(index), base, end, fixture_seed), index);
}

TEST(Index, loses_only_the_entry_that_is_damaged) {
    const auto good = encoded(an_index(3));
    auto expected = an_index(3);
    expected.erase(expected.begin() + 1);
    for (std::size_t i = index_entry_bytes * 8; i < 2 * index_entry_bytes * 8; ++i) {
        auto bytes = good;
        bytes[i / 8] ^= std::byte{1} << (i % 8);
        EXPECT_EQ(decode_index(bytes, base, end, fixture_seed), expected) << "bit " << i;
    }
}

TEST(Index, of_another_segment_or_partition_is_empty) {
    const auto bytes = encoded(an_index(3));

    EXPECT_TRUE(decode_index(bytes, {4096}, end, fixture_seed).empty());
    EXPECT_TRUE(decode_index(bytes, base, {104}, fixture_seed).empty());
    EXPECT_TRUE(decode_index(bytes, base, end, fixture_seed + 1).empty());
}

TEST(Index, is_empty_when_the_file_is_missing_or_garbage) {
    io::sim::Disk disk;
    EXPECT_TRUE(read_index(disk, "/x.idx", base, end, fixture_seed).empty());

    auto file = disk.open("/x.idx", io::OpenMode::create);
    ASSERT_TRUE((*file)->write(0, std::vector<std::byte>(1000, std::byte{0x5a})).ok());
    EXPECT_TRUE(read_index(disk, "/x.idx", base, end, fixture_seed).empty());
}

TEST(Index, passes_over_entries_that_fall) {
    auto index = an_index(3);
    index.insert(index.begin() + 2, IndexEntry{{50}, {5}, {0}});

    EXPECT_EQ(decode_index(encoded(index), base, end, fixture_seed), an_index(3));
}

TEST(FloorEntry, is_the_last_one_at_or_before_an_offset_or_number) {
    const auto index = an_index(4);

    EXPECT_EQ(floor_entry(index, {Field::offset, 103}), -1);
    EXPECT_EQ(floor_entry(index, {Field::offset, 104}), 0);
    EXPECT_EQ(floor_entry(index, {Field::offset, 207}), 0);
    EXPECT_EQ(floor_entry(index, {Field::sequence, 40}), 3);
    EXPECT_EQ(floor_entry(index, {Field::sequence, 39}), 2);
    EXPECT_EQ(floor_entry(index, {Field::sequence, 999}), 3);
}

TEST(FloorEntry, lies_before_all_events_of_a_time) {
    const auto index = an_index(4);  // times 0, 1000, 1000, 2000

    EXPECT_EQ(floor_entry(index, {Field::enqueued, 1000}), 0);
    EXPECT_EQ(floor_entry(index, {Field::enqueued, 1001}), 2);
    EXPECT_EQ(floor_entry(index, {Field::enqueued, 0}), -1);
}

}  // namespace
}  // namespace evenkeel::commitlog
