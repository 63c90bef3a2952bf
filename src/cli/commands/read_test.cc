#include "cli/commands/read.h"

namespace evenkeel::cli {
namespace {

constexpr WallTime now{1'700'000'000'000};

Position::Kind kind_of(std::string_view text) {
    return parse_start(text, now)->position.kind;
}

std::int64_t value_of(std::string_view text) {
    return parse_start(text, now)->position.value;
}

TEST(ReadStart, has_words_for_both_ends) {
    EXPECT_EQ(kind_of("start"), Position::Kind::earliest);
    EXPECT_EQ(kind_of("end"), Position::Kind::latest);
}

TEST(ReadStart, takes_numbers_offsets_times_and_times_ago) {
    EXPECT_EQ(value_of("seq:7"), 7);
    EXPECT_EQ(kind_of("offset:4096"), Position::Kind::offset);
    EXPECT_EQ(value_of("-15m"), now.milliseconds - 15 * 60 * 1000);
    EXPECT_EQ(value_of("-2d"), now.milliseconds - 48 * 60 * 60 * 1000);
    EXPECT_EQ(value_of("1970-01-02"), 86'400'000);
    EXPECT_EQ(value_of("1970-01-01T00:01Z"), 60'000);
    EXPECT_EQ(value_of("1970-01-01T00:00:05Z"), 5000);
    EXPECT_EQ(value_of("1970-01-01 00:00:05.25"), 5250);
}

TEST(ReadStart, refuses_everything_else) {
    for (const auto* text : {"", "seq:", "seq:x", "seq:-1", "offset:1x", "-", "-15y", "yesterday",
                             "1970-01-01T00:00:05.", "1970-01-01T00:00:05.x"}) {
        EXPECT_FALSE(parse_start(text, now)) << text;
    }
}

TEST(ReadStart, takes_the_last_events_of_what_there_is) {
    const ReadStart start = *parse_start("-10", now);
    PartitionInfo info;
    info.begin_sequence_number = 100;
    info.last_enqueued_sequence_number = 199;
    info.is_empty = false;

    EXPECT_EQ(position_in(start, info).value, 190);
    info.begin_sequence_number = 195;
    EXPECT_EQ(position_in(start, info).value, 195);
    info.is_empty = true;
    EXPECT_EQ(position_in(start, info).kind, Position::Kind::latest);
    EXPECT_EQ(position_in(*parse_start("seq:7", now), info).value, 7);
}

}  // namespace
}  // namespace evenkeel::cli
