#include "cli/read.h"

namespace evenkeel::cli {
namespace {

constexpr WallTime now{1'700'000'000'000};

TEST(ReadPosition, has_words_for_both_ends) {
    EXPECT_EQ(parse_position("start", now)->kind, Position::Kind::earliest);
    EXPECT_EQ(parse_position("end", now)->kind, Position::Kind::latest);
}

TEST(ReadPosition, takes_numbers_offsets_times_and_times_ago) {
    EXPECT_EQ(parse_position("seq:7", now)->value, 7);
    EXPECT_EQ(parse_position("offset:4096", now)->kind, Position::Kind::offset);
    EXPECT_EQ(parse_position("-15m", now)->value, now.milliseconds - 15 * 60 * 1000);
    EXPECT_EQ(parse_position("1970-01-02", now)->value, 86'400'000);
    EXPECT_EQ(parse_position("1970-01-01T00:00:05Z", now)->value, 5000);
}

TEST(ReadPosition, refuses_everything_else) {
    for (const auto* text : {"", "seq:", "seq:x", "offset:1x", "-", "-15", "yesterday"}) {
        EXPECT_FALSE(parse_position(text, now)) << text;
    }
}

Event an_event(std::string_view key, std::string& sections) {
    sections = std::string("\0\x53\x75\xa0\x05hello", 10);
    Event event;
    event.sequence_number = 3;
    event.offset = 192;
    event.enqueued_time_ms = 1000;
    event.partition_key = key;
    event.sections = std::as_bytes(std::span(sections));
    return event;
}

TEST(ReadFormat, puts_the_parts_of_an_event_where_the_format_says) {
    std::string sections;
    const Event event = an_event("k", sections);

    EXPECT_EQ(formatted("%p/%s@%o %k=%b %%\\n", 2, event), "2/3@192 k=hello %\n");
    EXPECT_EQ(formatted("%t", 2, event), "1970-01-01T00:00:01.000Z");
    EXPECT_EQ(formatted("100%", 2, event), "100%");
}

TEST(ReadJson, gives_text_as_text_and_other_bytes_in_base64) {
    std::string sections;
    Event event = an_event("", sections);
    EXPECT_NE(as_json(1, event).find("\"partition_key\":null,\"body\":\"hello\"}"),
              std::string::npos);

    sections = std::string("\0\x53\x75\xa0\x03\xff\x00\x01", 8);
    event.sections = std::as_bytes(std::span(sections));
    EXPECT_NE(as_json(1, event).find("\"body_base64\":\"/wAB\""), std::string::npos);
}

}  // namespace
}  // namespace evenkeel::cli
