#include "processor/ownership/reach.h"

#include <gtest/gtest.h>

#include "processor/time_fixture.h"

namespace evenkeel::processor {
namespace {

using namespace std::chrono_literals;

TEST(Reach, asks_an_idle_hub_and_believes_its_answer) {
    Reach reach(20s, start);
    EXPECT_FALSE(reach.is_question_due(start + 4s));
    EXPECT_TRUE(reach.is_question_due(start + 5s));
    EXPECT_FALSE(reach.is_question_due(start + 6s)) << "one question at a time";
    reach.heard(start + 6s);

    EXPECT_FALSE(reach.is_question_due(start + 10s));
    EXPECT_EQ(reach.unread_since(start + 15s), std::nullopt);
}

TEST(Reach, tells_of_silence_after_half_of_the_time) {
    Reach reach(20s, start);
    EXPECT_TRUE(reach.is_question_due(start + 5s));
    EXPECT_EQ(reach.unread_since(start + 9s), std::nullopt);

    EXPECT_EQ(reach.unread_since(start + 10s), start);
    EXPECT_TRUE(reach.is_question_due(start + 10s)) << "the first answer may never come";
    reach.heard(start + 11s);
    EXPECT_EQ(reach.unread_since(start + 11s), std::nullopt);
}

TEST(Reach, pumps_without_readers_count_though_the_hub_answers) {
    Reach reach(20s, start);
    reach.set_pumps(start + 1s);
    reach.heard(start + 12s);

    EXPECT_EQ(reach.unread_since(start + 12s), start + 1s);
    reach.set_pumps(std::nullopt);
    EXPECT_EQ(reach.unread_since(start + 12s), std::nullopt);
}

}  // namespace
}  // namespace evenkeel::processor
