#include "commitlog/active_index.h"

#include <gtest/gtest.h>

namespace evenkeel::commitlog {
namespace {

constexpr std::uint64_t distance = 128;

IndexEntry entry(std::int64_t offset) {
    return {{offset}, {offset / 64}, {offset}};
}

Target at_offset(std::int64_t value) {
    return {Target::Field::offset, value};
}

std::vector<std::int64_t> offsets(std::span<const IndexEntry> entries) {
    std::vector<std::int64_t> all;
    for (const auto& each : entries) all.push_back(each.offset.value);
    return all;
}

using Offsets = std::vector<std::int64_t>;

TEST(ActiveIndex, notes_a_record_for_each_distance) {
    ActiveIndex index(distance, {0}, {});

    for (std::int64_t offset = 0; offset < 512; offset += 64) index.note(entry(offset));

    EXPECT_EQ(offsets(index.pending()), (Offsets{128, 256, 384}));
}

TEST(ActiveIndex, goes_on_behind_what_recovery_found) {
    ActiveIndex index(distance, {0}, {entry(192)});

    index.note(entry(256));
    index.note(entry(320));

    EXPECT_EQ(offsets(index.pending()), (Offsets{320}));
    EXPECT_EQ(index.floor(at_offset(320))->offset.value, 192);
}

TEST(ActiveIndex, shows_nothing_before_it_is_flushed) {
    ActiveIndex index(distance, {0}, {});
    index.note(entry(128));
    EXPECT_FALSE(index.floor(at_offset(512)));

    index.show(std::vector{entry(128)}, /*created=*/false);
    index.settle({192});

    EXPECT_EQ(index.floor(at_offset(512))->offset.value, 128);
    EXPECT_TRUE(index.pending().empty());
}

TEST(ActiveIndex, begins_anew_with_a_segment) {
    ActiveIndex index(distance, {0}, {entry(128)});
    index.start_segment({256});
    index.note(entry(256));
    index.note(entry(384));

    index.show(std::vector{entry(384)}, /*created=*/true);
    index.settle({448});

    EXPECT_FALSE(index.floor(at_offset(300)));
    EXPECT_EQ(index.floor(at_offset(512))->offset.value, 384);
}

TEST(ActiveIndex, forgets_what_never_became_durable) {
    ActiveIndex index(distance, {0}, {entry(128)});
    index.note(entry(256));

    index.cut({0});
    index.note(entry(320));

    EXPECT_EQ(offsets(index.pending()), (Offsets{320}));
}

}  // namespace
}  // namespace evenkeel::commitlog
