#include "process/processor/progress_checker.h"

#include <gtest/gtest.h>

namespace evenkeel::lab {
namespace {

TEST(ProgressChecker, accepts_checkpoints_that_follow_what_is_handled) {
    ProgressChecker checker;
    checker.handled(0, 0, 99, 1000);
    checker.sampled({{0, 49, 1}}, 1000);
    checker.handled(1, 0, 9, 1100);
    checker.sampled({{0, 99, 1}, {1, -1, 1}}, 1150);
    // A new owner repeats a part.
    checker.handled(0, 80, 199, 1200);
    checker.sampled({{0, 199, 2}, {1, 9, 1}}, 1300);

    EXPECT_EQ(checker.judge(), "");
    EXPECT_EQ(checker.judge_end(), "");
    EXPECT_EQ(checker.changes_seen(), 5U);
}

TEST(ProgressChecker, finds_a_position_that_goes_back) {
    ProgressChecker checker;
    checker.handled(3, 0, 99, 1000);
    checker.sampled({{3, 80, 2}}, 1001);
    checker.sampled({{3, 79, 3}}, 1002);

    EXPECT_NE(checker.judge().find("partition 3: the stored checkpoint went back from 80"),
              std::string::npos)
        << checker.judge();
}

TEST(ProgressChecker, finds_an_epoch_that_goes_back) {
    ProgressChecker checker;
    checker.handled(3, 0, 99, 1000);
    checker.sampled({{3, 80, 2}}, 1001);
    checker.sampled({{3, 90, 1}}, 1002);

    EXPECT_NE(checker.judge().find("went back from 80 (epoch 2) to 90 (epoch 1)"),
              std::string::npos)
        << checker.judge();
}

TEST(ProgressChecker, finds_a_checkpoint_that_vanishes) {
    ProgressChecker checker;
    checker.handled(0, 0, 99, 1000);
    checker.handled(1, 0, 99, 1000);
    checker.sampled({{0, 80, 1}, {1, 80, 1}}, 1001);
    checker.sampled({{1, 80, 1}}, 1002);

    EXPECT_NE(checker.judge().find("1 stored checkpoints are gone"), std::string::npos)
        << checker.judge();
}

TEST(ProgressChecker, finds_a_checkpoint_that_was_ahead_when_it_was_seen) {
    ProgressChecker checker;
    checker.handled(0, 0, 9, 1000);
    checker.sampled({{0, 19, 1}}, 1100);
    checker.handled(0, 10, 19, 1101);

    EXPECT_NE(checker.judge().find("checkpoint 19 (epoch 1) is ahead of 9"), std::string::npos)
        << checker.judge();
}

TEST(ProgressChecker, finds_a_checkpoint_behind_a_gap) {
    ProgressChecker checker;
    checker.handled(0, 20, 29, 1000);
    checker.handled(0, 0, 9, 1000);
    checker.sampled({{0, 29, 1}}, 1100);

    EXPECT_NE(checker.judge().find("is ahead of 9"), std::string::npos) << checker.judge();
}

TEST(ProgressChecker, finds_what_was_handled_and_is_not_stored_in_the_end) {
    ProgressChecker checker;
    checker.handled(0, 0, 9, 1000);
    checker.handled(1, 0, 9, 1000);
    checker.handled(2, 0, 9, 1000);
    checker.sampled({{0, 9, 1}, {1, 8, 1}}, 1100);

    EXPECT_EQ(checker.judge(), "");
    EXPECT_EQ(checker.judge_end(),
              "partition 1: handled up to 9, but stored up to 8\n"
              "partition 2: handled up to 9, but stored up to -1\n");
}

}  // namespace
}  // namespace evenkeel::lab
