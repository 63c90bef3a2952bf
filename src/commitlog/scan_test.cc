#include "commitlog/scan.h"

#include <gtest/gtest.h>

#include "commitlog/segment_fixture.h"

namespace evenkeel::commitlog {
namespace {

Scanner scanner_of(SegmentFixture& segment) {
    return Scanner(*segment.file, segment.name.base, segment.end, segment.seed);
}

TEST(Scanner, walks_from_record_to_record) {
    // The second one is larger than the scanner's buffer.
    SegmentFixture segment({"a", std::string(300'000, 'b'), "c"});
    auto scanner = scanner_of(segment);

    for (std::size_t i = 0; i < 3; ++i) {
        const auto record = scanner.at(segment.offsets[i], {100 + static_cast<int>(i)});
        ASSERT_TRUE(record.ok());
        ASSERT_TRUE(record->has_value()) << i;
        EXPECT_EQ((*record)->offset, segment.offsets[i]);
    }
}

TEST(Scanner, does_not_take_a_record_with_another_number) {
    SegmentFixture segment({"a", "b"});
    auto scanner = scanner_of(segment);

    EXPECT_FALSE(scanner.at(segment.offsets[1], {100})->has_value());
    EXPECT_FALSE(scanner.at(segment.offsets[1] + 8, {101})->has_value());
    EXPECT_FALSE(scanner.at(segment.end, {102})->has_value());
}

TEST(Scanner, finds_the_next_good_record_behind_damage) {
    SegmentFixture segment({"a", "b", std::string(200'000, 'c'), "d"});
    segment.damage(1, 3);
    segment.damage(2, 100'000);
    auto scanner = scanner_of(segment);

    const auto record = scanner.find(segment.offsets[1], {101});

    ASSERT_TRUE(record.ok() && record->has_value());
    EXPECT_EQ((*record)->sequence.value, 103);
}

TEST(Scanner, is_not_fooled_by_a_record_inside_an_event) {
    SegmentFixture inner({"poser"});
    std::vector<std::byte> bytes(64);
    ASSERT_TRUE(inner.file->read(segment_header_bytes, bytes).ok());
    SegmentFixture segment({std::string(as_text(bytes)), "real"});
    segment.damage(0, 9);
    auto scanner = scanner_of(segment);

    const auto record = scanner.find(segment.offsets[0], {100});

    ASSERT_TRUE(record.ok() && record->has_value());
    EXPECT_EQ(as_text((*record)->body), "real");
}

TEST(Scanner, finds_nothing_where_nothing_is) {
    SegmentFixture segment({"a"});
    segment.damage(0);
    auto scanner = scanner_of(segment);

    EXPECT_FALSE(scanner.find(segment.name.base, {100})->has_value());
}

TEST(Scanner, looks_at_nothing_beyond_the_end_it_was_given) {
    SegmentFixture segment({"a", "b"});
    Scanner scanner(*segment.file, segment.name.base, segment.offsets[1] + 8, segment.seed);

    EXPECT_TRUE(scanner.at(segment.offsets[0], {100})->has_value());
    EXPECT_FALSE(scanner.at(segment.offsets[1], {101})->has_value());
    EXPECT_FALSE(scanner.find(segment.offsets[1], {101})->has_value());
}

TEST(Scanner, tells_of_a_disk_that_cannot_be_read) {
    SegmentFixture segment({"a"});
    segment.disk.fail({.kind = io::sim::OperationKind::read});
    auto scanner = scanner_of(segment);

    EXPECT_EQ(scanner.at(segment.name.base, {100}).error().code, ErrorCode::unavailable);
}

}  // namespace
}  // namespace evenkeel::commitlog
