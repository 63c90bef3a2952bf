#include "commitlog/segment_list.h"

#include <gtest/gtest.h>

#include "io/sim/disk.h"

namespace evenkeel::commitlog {
namespace {

const LogIdentity identity{Incarnation{std::byte{7}}, PartitionId{3}};

RecoveredSegment recovered(std::int64_t base, std::int64_t floor_time, bool floor_known = true) {
    return {{{base / 64}, {base}}, 64, {floor_time}, floor_known, false};
}

// Segments at 0, 256 and 512, with events of the times 1000 and 2000 before the last two.
struct ThreeSegments {
    io::sim::Disk disk;
    SegmentList list{
        disk, "p3", identity, {recovered(0, 0), recovered(256, 1000), recovered(512, 2000)}};
};

TEST(SegmentList, finds_the_segment_that_holds_an_offset) {
    const ThreeSegments world;

    EXPECT_EQ(world.list.holding({0}), 0u);
    EXPECT_EQ(world.list.holding({255}), 0u);
    EXPECT_EQ(world.list.holding({256}), 1u);
    EXPECT_EQ(world.list.holding({100'000}), 2u);
}

TEST(SegmentList, takes_the_last_time_of_a_segment_from_the_next_one) {
    const ThreeSegments world;

    EXPECT_EQ(world.list.last_time(0, {3000}).milliseconds, 1000);
    EXPECT_EQ(world.list.last_time(2, {3000}).milliseconds, 3000);
}

TEST(SegmentList, takes_a_later_time_where_a_header_is_damaged) {
    io::sim::Disk disk;
    const SegmentList list(
        disk, "p3", identity,
        {recovered(0, 0), recovered(256, 0, /*floor_known=*/false), recovered(512, 2000)});

    EXPECT_EQ(list.last_time(0, {3000}).milliseconds, 2000);
}

TEST(SegmentList, shares_an_open_file_among_its_readers) {
    const ThreeSegments world;

    const auto first = world.list.file(1);

    EXPECT_EQ(world.list.file(1), first);
    EXPECT_NE(world.list.file(2), first);
    EXPECT_EQ(first->name().base.value, 256);
}

TEST(SegmentList, removes_only_segments_whose_successor_exists) {
    ThreeSegments world;
    world.list.add({{12}, {768}}, {64, {2500}});

    EXPECT_FALSE(world.list.has_below({255}));
    const auto removed = world.list.remove_below({768});

    ASSERT_EQ(removed.size(), 2u);
    EXPECT_EQ(removed.back().base.value, 256);
    EXPECT_EQ(world.list.front().base().value, 512);
    world.list.set_created({768});
    EXPECT_TRUE(world.list.has_below({768}));
}

TEST(SegmentList, forgets_segments_that_were_never_created) {
    ThreeSegments world;
    world.list.add({{12}, {768}}, {64, {2500}});
    world.list.add({{16}, {1024}}, {64, {2600}});
    world.list.set_created({768});

    world.list.remove_uncreated();

    EXPECT_EQ(world.list.size(), 4u);
    EXPECT_EQ(world.list.back().base().value, 768);
    EXPECT_EQ(world.list.back().header.partition.value, 3u);
    EXPECT_EQ(world.list.back().header.floor_time.milliseconds, 2500);
}

}  // namespace
}  // namespace evenkeel::commitlog
