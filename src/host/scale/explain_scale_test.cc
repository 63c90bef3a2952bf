#include "host/scale/explain_scale.h"

#include <gtest/gtest.h>

#include "host/scale/scale_fixture.h"

namespace evenkeel::host {
namespace {

ScaleDecision first_decision(const GroupLoad& load, const ScalePolicy& policy,
                             std::uint32_t instances) {
    LoadHistory history;
    history.note(load, instances, at_second(0));
    return decide_scale(history, policy, instances, at_second(0));
}

TEST(ScaleWords, tell_formula_and_limits) {
    const ScalePolicy policy = ScalePolicy::without_memory();

    const auto words = explain_scale(first_decision(spread_load(16, 450), policy, 4), policy);

    EXPECT_EQ(words.why, "450 unread / 100 per instance = 5, next even split of 16 partitions = 6");
    EXPECT_EQ(words.not_more, "6 are enough for up to 600 unread events");
    EXPECT_EQ(words.not_less, "4 instances would have more than 100 unread events each");
}

TEST(ScaleWords, tell_when_it_may_shrink) {
    const ScalePolicy policy;
    LoadHistory history;
    history.note(spread_load(16, 601), 8, at_second(0));
    history.note(spread_load(16, 601), 8, at_second(70));
    history.note(spread_load(16, 10), 8, at_second(89));

    const auto decision = decide_scale(history, policy, 8, at_second(89));

    EXPECT_EQ(scale_line(decision, policy),
              "8 instances wanted, 8 now: 10 unread / 100 per instance = 1. Not more: one is "
              "enough for up to 100 unread events. Not less: a load of the last 60 s needed it; "
              "may shrink in 41 s.");
}

TEST(ScaleWords, tell_the_other_reasons) {
    const auto of = [](const GroupLoad& load, const ScalePolicy& policy, std::uint32_t instances) {
        return explain_scale(first_decision(load, policy, instances), policy);
    };

    EXPECT_EQ(of(spread_load(4, 5000), {}, 4).not_more,
              "a partition has one reader: of more than 4 instances some would wait");
    EXPECT_EQ(of(spread_load(16, 5000), {.max = 3}, 3).not_more, "max is 3");
    EXPECT_EQ(of(spread_load(16, 5000), {}, 1).not_more,
              "one step doubles the instances, or adds 4; more will follow");
    EXPECT_EQ(of(spread_load(16, 0), {}, 0).not_less, "there is nothing below 0");
    EXPECT_EQ(of(spread_load(16, 0), {.min = 2}, 2).not_less, "min is 2");
    EXPECT_EQ(of(spread_load(16, 5), {}, 1).not_less, "somebody has to read the unread events");
    EXPECT_EQ(of(spread_load(16, 5), {}, 3).not_less,
              "the lag has not been watched for 60 s yet; may shrink in 60 s");
    EXPECT_EQ(of(spread_load(10, 5000), {.standby = 1}, 11).why,
              "5000 unread / 100 per instance = 50, at most one for each of 10 partitions, and 1 "
              "on standby");
}

TEST(ScaleWords, tell_what_does_not_count) {
    GroupLoad load = spread_load(2, 5);
    load.partitions[0].lost = 7;
    load.partitions[1] = {.unread = 900, .position = -1, .last = 899};
    const ScalePolicy policy;

    EXPECT_EQ(explain_scale(first_decision(load, policy, 1), policy).why,
              "4 unread / 100 per instance = 1; 1 partition without a checkpoint; 7 events that "
              "retention removed do not count");
}

TEST(ScaleWords, tell_that_the_lag_is_not_known) {
    LoadHistory history;
    history.note_unknown("the store does not answer");
    const ScalePolicy policy;

    const auto decision = decide_scale(history, policy, 3, at_second(0));

    EXPECT_EQ(scale_line(decision, policy),
              "3 instances wanted, 3 now: hold: the lag is not known: the store does not answer. "
              "Not more: nothing is started for a lag that is not known. Not less: nothing is "
              "stopped for a lag that is not known.");
}

}  // namespace
}  // namespace evenkeel::host
