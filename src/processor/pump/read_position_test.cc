#include "processor/pump/read_position.h"

#include <gtest/gtest.h>

#include "base/time_point.h"

namespace evenkeel::processor {
namespace {

Event event(std::int64_t sequence) {
    Event event;
    event.sequence_number = sequence;
    event.offset = sequence * 100;
    event.enqueued_time = time_point({5000 + sequence});
    return event;
}

void expect_at(const Position& position, std::int64_t sequence, bool is_inclusive) {
    EXPECT_EQ(position.kind, Position::Kind::sequence_number);
    EXPECT_EQ(position.value, sequence);
    EXPECT_EQ(position.inclusive, is_inclusive);
}

ReadPosition begun_behind(std::int64_t sequence) {
    ReadPosition position;
    position.set_checkpoint({.partition = {0}, .sequence = {sequence}});
    position.set_hub(77);
    position.begin({.position = Position::after_sequence(sequence), .handled = {sequence}});
    return position;
}

TEST(ReadPosition, begins_as_the_checkpoint_says) {
    const ReadPosition position = begun_behind(4);

    expect_at(position.next(), 4, false);
    EXPECT_EQ(position.last_taken(), -1);
    EXPECT_EQ(position.checkpoint().sequence.value, 4);
}

TEST(ReadPosition, begins_with_the_landmark_if_there_is_one) {
    ReadPosition position = begun_behind(4);

    position.begin({.position = Position::after_sequence(4), .landmark = Landmark{4, 400, 0}});

    expect_at(position.next(), 4, true);
}

TEST(ReadPosition, stays_where_it_began_if_nothing_was_handed_out) {
    ReadPosition position = begun_behind(4);

    EXPECT_FALSE(position.rewind());

    expect_at(position.next(), 4, false);
    EXPECT_FALSE(position.landmark());
}

TEST(ReadPosition, rewinds_to_the_last_event_that_was_handed_out) {
    ReadPosition position = begun_behind(4);
    position.note_taken(event(7));
    position.note_taken(event(9));

    EXPECT_TRUE(position.rewind());

    expect_at(position.next(), 9, true);
    ASSERT_TRUE(position.landmark());
    EXPECT_EQ(position.landmark()->offset, 900);
    EXPECT_EQ(position.checkpoint().sequence.value, 9);
    EXPECT_EQ(position.checkpoint().offset, "900");
    EXPECT_EQ(position.checkpoint().enqueued_ms, 5009);
    EXPECT_EQ(position.checkpoint().hub_created_ms, 77);
}

TEST(ReadPosition, a_seek_counts_once_it_is_applied) {
    ReadPosition position = begun_behind(4);
    position.note_taken(event(9));
    position.rewind();

    position.seek(Position::earliest());
    EXPECT_TRUE(position.is_chosen());
    expect_at(position.next(), 9, true);
    EXPECT_TRUE(position.apply_seek());

    EXPECT_EQ(position.next().kind, Position::Kind::earliest);
    EXPECT_EQ(position.last_taken(), -1);
    EXPECT_TRUE(position.is_chosen());
    EXPECT_FALSE(position.is_seek_wanted());
    EXPECT_FALSE(position.apply_seek()) << "only once";
}

TEST(ReadPosition, only_the_store_counts_once_it_has_forgotten) {
    ReadPosition position = begun_behind(4);
    position.seek(Position::earliest());
    position.apply_seek();
    position.note_taken(event(9));

    position.forget_taken();

    EXPECT_FALSE(position.rewind());
    EXPECT_FALSE(position.is_chosen());
}

}  // namespace
}  // namespace evenkeel::processor
