#include "processor/pump/retry.h"

#include <chrono>

#include <gtest/gtest.h>

#include "support/seed.h"

namespace evenkeel::processor {
namespace {

using std::chrono::milliseconds;

const Error failed{ErrorCode::handler_failed, "no"};

TEST(Retry, doubles_the_pause_up_to_the_limit_give_or_take_a_fifth) {
    Random random(test::test_seed());
    const RetryPolicy policy{.delay = milliseconds(100), .delay_max = milliseconds(1000)};

    for (int round = 0; round < 100; ++round) {
        EXPECT_GE(retry_delay(policy, 1, random), milliseconds(80));
        EXPECT_LE(retry_delay(policy, 1, random), milliseconds(120));
        EXPECT_GE(retry_delay(policy, 3, random), milliseconds(320));
        EXPECT_LE(retry_delay(policy, 3, random), milliseconds(480));
        EXPECT_LE(retry_delay(policy, 4'000'000'000, random), milliseconds(1200));
    }
}

TEST(Retry, keeps_a_fixed_pause_if_asked_to) {
    Random random(test::test_seed());

    EXPECT_EQ(retry_delay({.delay = milliseconds(70), .exponential = false}, 9, random),
              milliseconds(70));
}

TEST(Retry, pauses_a_pump_for_five_seconds_at_most) {
    Random random(test::test_seed());

    EXPECT_LE(restart_delay(1, random), milliseconds(120));
    EXPECT_LE(restart_delay(1000, random), milliseconds(6000));
    EXPECT_GE(restart_delay(1000, random), milliseconds(4000));
}

TEST(Verdict, is_poison_only_after_all_attempts_of_a_single_event) {
    const RetryPolicy policy{.attempts_max = 3};

    EXPECT_EQ(judge(policy, failed, 1, 2), Verdict::retry);
    EXPECT_EQ(judge(policy, failed, 1, 3), Verdict::poison);
    EXPECT_EQ(judge(policy, failed, 5, 3), Verdict::retry);
}

TEST(Verdict, does_not_wait_for_errors_that_are_not_worth_another_attempt) {
    const RetryPolicy policy{.is_retriable = [](const Error&) { return false; }};

    EXPECT_EQ(judge(policy, failed, 5, 1), Verdict::single);
    EXPECT_EQ(judge(policy, failed, 1, 1), Verdict::poison);
}

TEST(Verdict, is_to_try_again_if_the_question_throws) {
    const RetryPolicy policy{.is_retriable = [](const Error&) -> bool { throw 7; }};

    EXPECT_EQ(judge(policy, failed, 1, 1), Verdict::retry);
    EXPECT_EQ(judge(policy, failed, 1, policy.attempts_max), Verdict::poison);
}

TEST(Outage, is_what_backing_off_may_mend_but_no_slow_event) {
    for (const ErrorCode code : {ErrorCode::unavailable, ErrorCode::overloaded}) {
        EXPECT_TRUE(is_outage({code, ""})) << to_string(code);
    }
    for (const ErrorCode code : {ErrorCode::timed_out, ErrorCode::handler_failed,
                                 ErrorCode::invalid_argument, ErrorCode::cancelled}) {
        EXPECT_FALSE(is_outage({code, ""})) << to_string(code);
    }
}

}  // namespace
}  // namespace evenkeel::processor
