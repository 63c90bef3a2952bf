#include "processor/pump/resume.h"

#include <gtest/gtest.h>

#include "base/time_point.h"

namespace evenkeel::processor {
namespace {

using checkpoint::Checkpoint;
using source::PartitionProperties;

constexpr std::int64_t created = 1000;
const PartitionProperties hundred{{0}, {99}, {9900}, 0};

void expect_position(const Result<Resume>& result, const Position& position) {
    ASSERT_TRUE(result.ok()) << to_string(result.error());
    EXPECT_EQ(result->position.kind, position.kind);
    EXPECT_EQ(result->position.value, position.value);
    EXPECT_EQ(result->position.inclusive, position.inclusive);
}

TEST(Resume, goes_on_behind_the_event_of_the_checkpoint) {
    const auto result = resume({.partition = {0}, .sequence = {41}, .hub_created_ms = created},
                               hundred, created, Position::earliest());

    expect_position(result, Position::after_sequence(41));
    EXPECT_EQ(result->handled.value, 41);
    EXPECT_FALSE(result->notice);
}

TEST(Resume, begins_at_the_start_position_without_a_checkpoint) {
    expect_position(
        resume({.partition = {0}}, hundred, created, Position::at_time(time_point({7}))),
        Position::at_time(time_point({7})));
}

TEST(Resume, pins_the_position_if_that_is_now) {
    const auto result = resume({.partition = {0}}, hundred, created, Position::latest());

    expect_position(result, Position::after_sequence(99));
    EXPECT_TRUE(result->must_pin);
    EXPECT_EQ(result->handled.value, 99);
}

TEST(Resume, finds_the_pin_of_a_partition_that_had_no_event) {
    const auto first = resume({.partition = {0}}, {}, created, Position::latest());
    const auto second =
        resume({.partition = {0}, .hub_created_ms = created}, hundred, created, Position::latest());

    expect_position(first, Position::earliest());
    EXPECT_TRUE(first->must_pin);
    expect_position(second, Position::earliest());
    EXPECT_FALSE(second->must_pin);
}

TEST(Resume, takes_the_offset_of_a_checkpoint_without_a_sequence_number) {
    expect_position(
        resume({.partition = {0}, .offset = "4711"}, hundred, created, Position::latest()),
        Position::after_offset(4711));
    EXPECT_EQ(resume({.partition = {0}, .offset = "4711:x"}, hundred, created, Position::latest())
                  .error()
                  .code,
              ErrorCode::unsupported);
}

TEST(Resume, takes_the_words_no_offset_for_none) {
    expect_position(
        resume({.partition = {0}, .offset = "no offset"}, hundred, created, Position::earliest()),
        Position::earliest());
}

TEST(Resume, tells_how_many_events_retention_took) {
    const auto result = resume({.partition = {0}, .sequence = {41}}, {{60}, {99}, {9900}, 0},
                               created, Position::earliest());

    expect_position(result, Position::after_sequence(41));
    ASSERT_TRUE(result->notice);
    EXPECT_NE(result->notice->detail.find("18 events of partition 0"), std::string::npos);
    EXPECT_EQ(result->handled.value, 59);
}

TEST(Resume, reads_a_hub_that_was_created_again_from_its_beginning) {
    const auto result = resume({.partition = {0}, .sequence = {410}, .hub_created_ms = 1}, hundred,
                               created, Position::latest());

    expect_position(result, Position::earliest());
    EXPECT_TRUE(result->must_reset);
    EXPECT_TRUE(result->notice);
}

TEST(Resume, resets_a_checkpoint_beyond_the_end_of_an_unknown_hub) {
    const auto result =
        resume({.partition = {0}, .sequence = {410}}, hundred, created, Position::latest());

    expect_position(result, Position::earliest());
    EXPECT_TRUE(result->must_reset);
}

TEST(Resume, refuses_a_checkpoint_beyond_the_end_of_the_same_hub) {
    const auto result = resume({.partition = {0}, .sequence = {410}, .hub_created_ms = created},
                               hundred, created, Position::earliest());

    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(result.error().detail.find("410"), std::string::npos);
}

TEST(Resume, takes_the_last_event_itself_as_handled) {
    expect_position(resume({.partition = {0}, .sequence = {99}, .hub_created_ms = created}, hundred,
                           created, Position::earliest()),
                    Position::after_sequence(99));
}

TEST(Resume, names_the_event_by_which_the_hub_is_known_again) {
    const auto known = resume({.partition = {0},
                               .sequence = {41},
                               .offset = "4100",
                               .hub_created_ms = created,
                               .enqueued_ms = 7},
                              hundred, created, Position::earliest());

    ASSERT_TRUE(known.ok() && known->landmark);
    EXPECT_EQ(known->landmark->sequence, 41);
    EXPECT_EQ(known->landmark->offset, 4100);
    EXPECT_EQ(known->landmark->enqueued_ms, 7);
}

TEST(Resume, has_nothing_to_compare_where_only_the_number_is_known) {
    const auto by_hand = resume({.partition = {0}, .sequence = {41}}, hundred, created, {});
    const auto opaque =
        resume({.partition = {0}, .sequence = {41}, .offset = "1:77:a"}, hundred, created, {});
    const auto removed = resume({.partition = {0}, .sequence = {41}, .offset = "4100"},
                                {{60}, {99}, {9900}, 0}, created, {});

    ASSERT_TRUE(by_hand.ok() && opaque.ok() && removed.ok());
    EXPECT_FALSE(by_hand->landmark);
    EXPECT_FALSE(opaque->landmark);
    EXPECT_FALSE(removed->landmark);
}

TEST(Resume, refuses_another_event_under_the_number_of_the_checkpoint) {
    Event same;
    same.sequence_number = 41;
    same.offset = 4100;
    same.enqueued_time = time_point({7});
    Event moved = same, later = same, opaque = same;
    moved.offset = 4000;
    later.enqueued_time = time_point({8});
    opaque.offset = -1;

    EXPECT_TRUE(check({41, 4100, 7}, same).ok());
    EXPECT_TRUE(check({41, -1, 7}, same).ok());
    EXPECT_TRUE(check({41, 4100, 0}, same).ok());
    EXPECT_TRUE(check({41, 4100, 7}, opaque).ok());
    EXPECT_EQ(check({41, 4100, 7}, moved).error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(check({41, 4100, 7}, later).error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace evenkeel::processor
