#include "commitlog/read.h"

#include <gtest/gtest.h>

#include "commitlog/segment_fixture.h"

namespace evenkeel::commitlog {
namespace {

using Field = Target::Field;

std::vector<std::int64_t> sequences(const Slice& slice) {
    std::vector<std::int64_t> all;
    for (const Record& record : slice) all.push_back(record.sequence.value);
    return all;
}

Slice a_slice(SegmentFixture& segment) {
    return segment.cold_read(1 << 20).perform()->events;
}

TEST(Slice, leaves_out_what_comes_before_a_target) {
    SegmentFixture segment({"a", "b", "c"});
    const Slice slice = a_slice(segment);

    EXPECT_EQ(sequences(slice.from({Field::sequence, 101})), (std::vector<std::int64_t>{101, 102}));
    EXPECT_EQ(sequences(slice.from({Field::enqueued, 101'001})), (std::vector<std::int64_t>{102}));
    EXPECT_EQ(sequences(slice.from({Field::offset, 0})).size(), 3u);
    EXPECT_TRUE(slice.from({Field::sequence, 103}).empty());
}

TEST(Slice, keeps_as_many_records_as_fit_but_at_least_one) {
    SegmentFixture segment({"a", "b", "c"});
    const Slice slice = a_slice(segment);

    EXPECT_EQ(sequences(slice.first(0)), (std::vector<std::int64_t>{100}));
    EXPECT_EQ(sequences(slice.first(128)), (std::vector<std::int64_t>{100, 101}));
    EXPECT_EQ(sequences(slice.first(191)), (std::vector<std::int64_t>{100, 101}));
    EXPECT_EQ(sequences(slice.first(192)).size(), 3u);
}

TEST(ColdRead, goes_on_where_the_one_before_ended) {
    std::vector<std::string> bodies;
    for (int i = 0; i < 200; ++i) bodies.push_back(std::string(static_cast<std::size_t>(i), 'x'));
    SegmentFixture segment(bodies);
    ColdRead read = segment.cold_read(4096);
    std::vector<std::int64_t> all;

    while (read.from < read.end) {
        const auto outcome = read.perform();
        ASSERT_TRUE(outcome.ok());
        ASSERT_FALSE(outcome->events.empty());
        EXPECT_FALSE(outcome->damage.has_value());
        EXPECT_LE(outcome->events.bytes().size(), 4096u);
        for (const auto number : sequences(outcome->events)) all.push_back(number);
        read.from = outcome->next;
        read.sequence = outcome->next_sequence;
    }

    ASSERT_EQ(all.size(), 200u);
    EXPECT_EQ(all.front(), 100);
    EXPECT_EQ(all.back(), 299);
}

TEST(ColdRead, reads_a_record_larger_than_its_limit) {
    SegmentFixture segment({std::string(100'000, 'x'), "b"});

    const auto outcome = segment.cold_read(1).perform();

    ASSERT_TRUE(outcome.ok());
    EXPECT_EQ(sequences(outcome->events), (std::vector<std::int64_t>{100}));
    EXPECT_EQ(outcome->next, segment.offsets[1]);
}

TEST(ColdRead, stops_at_the_end_it_was_given) {
    SegmentFixture segment({"a", "b", "c"});
    ColdRead read = segment.cold_read(4096);
    read.end = segment.offsets[2];
    read.end_sequence = {102};

    const auto outcome = read.perform();

    EXPECT_EQ(sequences(outcome->events), (std::vector<std::int64_t>{100, 101}));
    EXPECT_EQ(outcome->next_sequence.value, 102);
}

TEST(ColdRead, reports_damage_with_its_range_and_goes_on_behind_it) {
    SegmentFixture segment({"a", "b", "c", "d"});
    segment.damage(1);
    segment.damage(2);
    ColdRead read = segment.cold_read(4096);

    const auto before = read.perform();
    ASSERT_TRUE(before.ok());
    EXPECT_EQ(sequences(before->events), (std::vector<std::int64_t>{100}));
    ASSERT_TRUE(before->damage.has_value());
    const Damage expected{{101}, {103}, segment.offsets[1], segment.offsets[3], segment.path};
    EXPECT_EQ(*before->damage, expected);
    EXPECT_EQ(to_string(expected), "events 101 to 102 in " + segment.path +
                                       " are damaged (stream positions 6464 to 6592)");

    read.from = before->next;
    read.sequence = before->next_sequence;
    EXPECT_EQ(sequences(read.perform()->events), (std::vector<std::int64_t>{103}));
}

TEST(ColdRead, reports_damage_at_the_end_up_to_the_end) {
    SegmentFixture segment({"a", "b"});
    ASSERT_TRUE(segment.file->truncate(segment_header_bytes + 70).ok());

    const auto outcome = segment.cold_read(4096).perform();

    ASSERT_TRUE(outcome.ok());
    EXPECT_EQ(sequences(outcome->events), (std::vector<std::int64_t>{100}));
    EXPECT_EQ(outcome->damage->to.value, 102);
    EXPECT_EQ(outcome->next, segment.end);
}

TEST(ColdRead, of_a_lost_segment_is_all_damage) {
    SegmentFixture segment({"a", "b"});
    ColdRead read = segment.cold_read(4096);
    read.lost = true;

    const auto outcome = read.perform();

    EXPECT_TRUE(outcome->events.empty());
    EXPECT_EQ(outcome->damage->from.value, 100);
    EXPECT_EQ(outcome->damage->to.value, 102);
}

TEST(ColdRead, passes_over_what_comes_before_its_target) {
    SegmentFixture segment(std::vector<std::string>(1000, "x"));
    for (const std::int64_t number : {100, 101, 500, 1099}) {
        ColdRead read = segment.cold_read(4096);
        read.target = Target{Field::sequence, number};

        const auto outcome = read.perform();

        ASSERT_TRUE(outcome.ok());
        ASSERT_FALSE(outcome->events.empty()) << number;
        EXPECT_EQ(sequences(outcome->events).front(), number);
    }
}

TEST(ColdRead, is_silent_about_damage_before_its_target_only) {
    SegmentFixture segment({"a", "b", "c", "d"});
    segment.damage(1);
    ColdRead read = segment.cold_read(4096);

    read.target = Target{Field::sequence, 102};
    EXPECT_FALSE(read.perform()->damage.has_value());
    read.target = Target{Field::sequence, 101};
    EXPECT_TRUE(read.perform()->damage.has_value());
    read.target = Target{Field::enqueued, 103'000};  // it may have hidden the time
    EXPECT_TRUE(read.perform()->damage.has_value());
}

TEST(ColdRead, from_memory_gives_the_same_once_the_file_is_open) {
    SegmentFixture segment({"a", std::string(5000, 'b'), "c"});
    segment.disk.set_cached(true);
    ColdRead read = segment.cold_read(4096);
    EXPECT_FALSE(read.perform_cached().has_value());
    ASSERT_TRUE(segment.segment->open().ok());

    const auto first = read.perform_cached();
    ASSERT_TRUE(first.has_value());
    EXPECT_EQ(sequences(first->events), (std::vector<std::int64_t>{100}));
    EXPECT_EQ(first->next, segment.offsets[1]);
    EXPECT_EQ(first->next_sequence.value, 101);

    read.bytes_max = 1 << 20;
    EXPECT_EQ(sequences(read.perform_cached()->events).size(), 3u);
    read.target = Target{Field::sequence, 101};
    EXPECT_EQ(sequences(read.perform_cached()->events), (std::vector<std::int64_t>{101, 102}));
}

TEST(ColdRead, from_memory_leaves_hard_cases_to_the_disk_thread) {
    SegmentFixture segment({"a", "b", std::string(5000, 'c')});
    segment.disk.set_cached(true);
    ASSERT_TRUE(segment.segment->open().ok());
    segment.damage(1);
    ColdRead read = segment.cold_read(4096);

    EXPECT_EQ(sequences(read.perform_cached()->events), (std::vector<std::int64_t>{100}));
    read.from = segment.offsets[1];
    read.sequence = {101};
    EXPECT_FALSE(read.perform_cached().has_value()) << "damage";
    read.from = segment.offsets[2];
    read.sequence = {102};
    EXPECT_FALSE(read.perform_cached().has_value()) << "larger than the block";

    read = segment.cold_read(4096);
    read.search = true;
    EXPECT_FALSE(read.perform_cached().has_value()) << "a search";
    read.search = false;
    read.lost = true;
    EXPECT_FALSE(read.perform_cached().has_value()) << "a lost file";
    read.lost = false;
    segment.disk.fail({io::sim::OperationKind::read});
    EXPECT_FALSE(read.perform_cached().has_value()) << "a disk that fails";
    segment.disk.set_cached(false);
    EXPECT_FALSE(read.perform_cached().has_value()) << "not in memory";
}

TEST(ColdRead, tells_of_a_disk_that_cannot_be_read) {
    SegmentFixture segment({"a"});
    segment.disk.fail({.kind = io::sim::OperationKind::read});

    EXPECT_EQ(segment.cold_read(4096).perform().error().code, ErrorCode::unavailable);
}

TEST(ScanIndex, has_an_entry_for_each_distance) {
    SegmentFixture segment(std::vector<std::string>(10, "x"));

    const auto index = scan_index(*segment.file, segment.name, segment.end, segment.seed, 128);

    ASSERT_TRUE(index.ok());
    ASSERT_EQ(index->size(), 4u);
    EXPECT_EQ(index->at(0), (IndexEntry{segment.offsets[2], {102}, {102'000}}));
    EXPECT_EQ(index->at(3), (IndexEntry{segment.offsets[8], {108}, {108'000}}));
}

TEST(ScanIndex, goes_on_behind_damage) {
    SegmentFixture segment(std::vector<std::string>(10, "x"));
    segment.damage(2);

    const auto index = scan_index(*segment.file, segment.name, segment.end, segment.seed, 128);

    ASSERT_EQ(index->size(), 4u);
    EXPECT_EQ(index->at(0).sequence.value, 103);
}

}  // namespace
}  // namespace evenkeel::commitlog
