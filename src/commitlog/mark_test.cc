#include "commitlog/mark.h"

#include <gtest/gtest.h>

#include "commitlog/segment_fixture.h"
#include "io/sim/disk.h"

namespace evenkeel::commitlog {
namespace {

Mark a_mark(std::uint64_t counter) {
    return {counter, {64}, {1}, {640}, {10}, {1234}, 64};
}

class MarkFile : public testing::Test {
protected:
    Result<std::optional<Mark>> read() { return read_mark(disk, "", fixture_seed); }

    io::sim::Disk disk;
    std::unique_ptr<io::File> file = *disk.open("/mark", io::OpenMode::create);
};

TEST_F(MarkFile, gives_back_the_newer_slot) {
    ASSERT_TRUE(write_mark(*file, a_mark(7), fixture_seed).ok());
    ASSERT_TRUE(write_mark(*file, a_mark(8), fixture_seed).ok());
    EXPECT_EQ(*read(), a_mark(8));

    ASSERT_TRUE(write_mark(*file, a_mark(9), fixture_seed).ok());
    EXPECT_EQ(*read(), a_mark(9));
}

TEST_F(MarkFile, falls_back_to_the_other_slot_when_one_is_damaged) {
    ASSERT_TRUE(write_mark(*file, a_mark(7), fixture_seed).ok());
    ASSERT_TRUE(write_mark(*file, a_mark(8), fixture_seed).ok());

    disk.flip_bit("/mark", 20, 3);  // slot 0 holds the even counter

    EXPECT_EQ(*read(), a_mark(7));
}

TEST_F(MarkFile, forgets_the_older_start_when_written_durably) {
    ASSERT_TRUE(write_mark(*file, a_mark(7), fixture_seed).ok());
    ASSERT_TRUE(write_mark(*file, a_mark(8), fixture_seed).ok());
    Mark moved = a_mark(10);
    moved.start = {128};
    ASSERT_TRUE(write_mark_durably(*file, moved, fixture_seed).ok());

    disk.flip_bit("/mark", 20, 3);

    EXPECT_EQ((**read()).start.value, 128);
}

TEST_F(MarkFile, is_none_when_neither_slot_is_good) {
    EXPECT_EQ(*read(), std::nullopt);
    ASSERT_TRUE(write_mark(*file, a_mark(7), fixture_seed).ok());
    EXPECT_EQ(*read_mark(disk, "", fixture_seed + 1), std::nullopt);
    ASSERT_TRUE(disk.remove("/mark").ok());
    EXPECT_EQ(*read(), std::nullopt);
}

TEST_F(MarkFile, reports_a_disk_that_cannot_be_read) {
    disk.fail({.kind = io::sim::OperationKind::read, .path_contains = "mark"});

    EXPECT_EQ(read().error().code, ErrorCode::unavailable);
}

TEST(Mark, is_bad_with_numbers_that_no_log_has) {
    const Mark good{1, {64}, {1}, {192}, {3}, {5}, 64};
    ASSERT_EQ(decode_mark(encode(good, 7), 7), good);

    for (const Mark& bad :
         {Mark{1, {-64}, {1}, {192}, {3}, {5}, 64}, Mark{1, {256}, {1}, {192}, {3}, {5}, 64},
          Mark{1, {64}, {-1}, {192}, {3}, {5}, 64}, Mark{1, {64}, {4}, {192}, {3}, {5}, 64},
          Mark{1, {64}, {1}, {std::int64_t{1} << 62}, {3}, {5}, 64},
          Mark{1, {64}, {1}, {192}, {std::int64_t{1} << 62}, {5}, 64},
          Mark{1, {64}, {1}, {192}, {3}, {5}, 193}}) {
        EXPECT_EQ(decode_mark(encode(bad, 7), 7), std::nullopt);
    }
}

TEST(Mark, is_bad_with_any_bit_flipped) {
    const auto good = encode(a_mark(7), fixture_seed);
    for (std::size_t i = 0; i < good.size() * 8; ++i) {
        auto bytes = good;
        bytes[i / 8] ^= std::byte{1} << (i % 8);
        EXPECT_FALSE(decode_mark(bytes, fixture_seed).has_value()) << "bit " << i;
    }
}

}  // namespace
}  // namespace evenkeel::commitlog
