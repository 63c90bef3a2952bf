#include "cli/text/sent_places.h"

#include <gtest/gtest.h>

namespace evenkeel::cli {
namespace {

TEST(SentPlaces, names_partitions_and_sequence_numbers) {
    SentPlaces places;
    EXPECT_EQ(places.text(), "");
    places.add(0, 7, 7);
    EXPECT_EQ(places.text(), "partition 0 seq 7");
    places.add(0, 8, 9);
    EXPECT_EQ(places.text(), "partition 0 seq 7-9");
    places.add(3, 4, 4);
    EXPECT_EQ(places.text(), "partition 0 seq 7-9, 3 seq 4");
}

TEST(SentPlaces, says_when_others_sent_in_between) {
    SentPlaces places;
    places.add(1, 0, 1);
    places.add(1, 5, 6);
    EXPECT_EQ(places.text(), "partition 1 seq 0-6 (shared)");
}

TEST(SentPlaces, counts_partitions_that_are_too_many_to_list) {
    SentPlaces places;
    for (std::uint32_t i = 0; i < 5; ++i) places.add(i, 0, 0);
    EXPECT_EQ(places.text(), "5 partitions");
}

}  // namespace
}  // namespace evenkeel::cli
