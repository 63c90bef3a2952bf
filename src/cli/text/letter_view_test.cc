#include "cli/text/letter_view.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "cli/text/event_json.h"
#include "cli/text/exact_json.h"
#include "eventhubs/encoding.h"

namespace evenkeel::cli {
namespace {

using checkpoint::DeadLetter;

const LetterPlace homes{"homes", "billing"};

DeadLetter a_dead_letter(std::string cause = "no such house") {
    DeadLetter letter{.partition = {3},
                      .sequence = {17},
                      .offset = "4100",
                      .enqueued_ms = 1'000,
                      .partition_key = "home-17",
                      .cause = std::move(cause),
                      .attempts = 5,
                      .at_ms = 2'000};
    const Property room{"room", "hall"};
    eventhubs::append_message({.body = "door opened", .properties = {&room, 1}}, letter.sections);
    return letter;
}

TEST(LetterChoice, takes_what_meets_all_conditions) {
    const DeadLetter letter = a_dead_letter();

    EXPECT_TRUE(matches({}, letter));
    EXPECT_TRUE(matches({{{{3}, {17}}}, {3}, "such"}, letter));
    EXPECT_FALSE(matches({{{{3}, {16}}}, {}, ""}, letter));
    EXPECT_FALSE(matches({{}, {2}, ""}, letter));
    EXPECT_FALSE(matches({{}, {}, "timeout"}, letter));
}

TEST(LetterJson, is_an_event_that_send_accepts) {
    const auto parsed = parse_json(letter_json(homes, a_dead_letter()));
    ASSERT_TRUE(parsed.ok()) << parsed.error().detail;

    EXPECT_TRUE(is_event_json(*parsed));
    const auto event = event_from_json(*parsed);
    ASSERT_TRUE(event.ok()) << event.error().detail;
    EXPECT_EQ(event->parts.body, "door opened");
    EXPECT_EQ(event->partition_key, "home-17");
    EXPECT_EQ(event->partition, 3u);
    EXPECT_EQ(event->parts.message(), a_dead_letter().sections);
    EXPECT_EQ(parsed->at("cause").as_string(), "no such house");
    EXPECT_EQ(parsed->at("attempts").as_int64(), 5);
    EXPECT_EQ(parsed->at("dead_lettered_at").as_string(), "1970-01-01T00:00:02.000Z");
}

TEST(LetterJson, is_utf8_whatever_the_cause_holds) {
    const DeadLetter odd = a_dead_letter("\xff\x1b[2J\"\n");

    for (const std::string& text : {letter_json(homes, odd), indented(letters_json({{odd, 11}}))}) {
        EXPECT_TRUE(parse_json(text).ok()) << text;
        EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
        EXPECT_EQ(text.find('\xff'), std::string::npos) << text;
    }
}

TEST(LetterListing, shows_no_escape_sequences) {
    const std::string text =
        letter_listing({{a_dead_letter("\x1b[2Jbroken"), 11}}, 62'000).text(Terminal{});
    EXPECT_EQ(text,
              "PARTITION\tSEQUENCE\tWHEN\tATTEMPTS\tKEY\tSIZE\tCAUSE\n"
              "3\t17\t1970-01-01T00:00:02.000Z\t5\thome-17\t11\t?[2Jbroken\n");

    const std::string fields = letter_fields(homes, a_dead_letter("\x1b[2J")).text(Terminal{});
    EXPECT_EQ(fields.find('\x1b'), std::string::npos) << fields;
    EXPECT_NE(fields.find("properties.room\thall\n"), std::string::npos) << fields;
    EXPECT_NE(fields.find("sequence_number\t17\n"), std::string::npos) << fields;
    EXPECT_NE(fields.find("body_bytes\t11\n"), std::string::npos) << fields;
}

}  // namespace
}  // namespace evenkeel::cli
