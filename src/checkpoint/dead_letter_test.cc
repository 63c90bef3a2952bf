#include "checkpoint/dead_letter.h"

#include <gtest/gtest.h>

#include "base/time_point.h"

namespace evenkeel::checkpoint {
namespace {

TEST(DeadLetterId, is_partition_and_sequence_number) {
    EXPECT_EQ(to_string(parse_letter_id("3/17").value()), "3/17");
    for (const char* wrong : {"", "3", "3/", "/17", "3/-1", "-3/17", "3/17/1", "a/b", "3/ 17",
                              "3/99999999999999999999", "4294967296/1"}) {
        const auto parsed = parse_letter_id(wrong);
        EXPECT_FALSE(parsed.ok()) << wrong;
        if (parsed.ok()) continue;
        EXPECT_NE(parsed.error().detail.find("such as 3/17"), std::string::npos);
    }
}

TEST(DeadLetterEvent, is_the_event_that_it_was) {
    DeadLetter letter{.partition = {3},
                      .sequence = {17},
                      .offset = "4100",
                      .enqueued_ms = 1'000,
                      .partition_key = "home-17",
                      .sections = {std::byte{1}, std::byte{2}}};

    const Event event = event_of(letter);

    EXPECT_EQ(id_of(letter), (DeadLetterId{{3}, {17}}));
    EXPECT_EQ(event.sequence_number, 17);
    EXPECT_EQ(event.offset, 4100);
    EXPECT_EQ(wall_time(event.enqueued_time).milliseconds, 1'000);
    EXPECT_EQ(event.partition_key, "home-17");
    EXPECT_EQ(event.sections.data(), letter.sections.data()) << "a view";
    letter.offset = "opaque";
    EXPECT_EQ(event_of(letter).offset, -1) << "of another service's offset nothing is known";
}

}  // namespace
}  // namespace evenkeel::checkpoint
