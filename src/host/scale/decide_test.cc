#include "host/scale/decide.h"

#include <algorithm>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "host/scale/explain_scale.h"
#include "host/scale/scale_fixture.h"

namespace evenkeel::host {
namespace {

using Above = ScaleDecision::Above;
using Below = ScaleDecision::Below;

// What is decided of one reading, without a memory.
ScaleDecision decided_once(const GroupLoad& load, ScalePolicy policy, std::uint32_t instances = 0) {
    LoadHistory history;
    history.note(load, instances, at_second(0));
    policy.step_min = 0;
    policy.in_after = policy.idle_after = Duration(0);
    return decide_scale(history, policy, instances, at_second(0));
}

// A group that is read every second, and told how many instances there are to be.
struct ScaledGroup {
    ScalePolicy policy;
    LoadHistory history;
    std::uint32_t instances = 0;
    std::int64_t second = 0;
    ScaleDecision last;

    void note(const GroupLoad& load, int times = 1) {
        for (int i = 0; i < times; ++i) {
            history.note(load, instances, at_second(second));
            last = decide_scale(history, policy, instances, at_second(second));
            instances = last.wanted;
            ++second;
        }
    }
};

TEST(ScaleFormula, is_that_of_target_based_scaling) {
    struct Vector {
        std::int64_t unread, target;
        std::uint32_t partitions;
        std::int64_t demand;
        std::uint32_t wanted;
    };
    for (const Vector& vector :
         {Vector{0, 100, 16, 0, 0}, Vector{1, 100, 16, 1, 1}, Vector{101, 100, 16, 2, 2},
          Vector{450, 100, 16, 5, 6}, Vector{601, 100, 16, 7, 8}, Vector{801, 100, 16, 9, 16},
          Vector{5000, 100, 16, 50, 16}, Vector{250, 100, 4, 3, 4}, Vector{901, 100, 10, 10, 10}}) {
        const auto decision =
            decided_once(spread_load(vector.partitions, vector.unread), {.target = vector.target});
        EXPECT_EQ(decision.demand, vector.demand) << vector.unread;
        EXPECT_EQ(decision.wanted, vector.wanted) << vector.unread;
    }
}

TEST(ScaleFormula, wants_nothing_of_a_hub_without_partitions) {
    EXPECT_EQ(decided_once({}, {}).wanted, 0u);
}

TEST(ScaleFormula, does_not_overflow) {
    GroupLoad load = spread_load(16, 0);
    for (auto& partition : load.partitions) {
        partition.unread = std::numeric_limits<std::int64_t>::max();
    }

    EXPECT_EQ(decided_once(load, {.target = 1}).wanted, 16u);
    EXPECT_EQ(decided_once(load, {.target = ScalePolicy::target_max}).wanted, 16u);
}

TEST(ScaleFormula, adds_standby_beyond_the_partitions) {
    const ScalePolicy policy{.standby = 1};

    EXPECT_EQ(decided_once(spread_load(10, 0), policy).wanted, 0u);
    EXPECT_EQ(decided_once(spread_load(10, 50), policy).wanted, 2u);
    EXPECT_EQ(decided_once(spread_load(10, 100'000), policy).wanted, 11u);
}

TEST(ScaleFormula, keeps_to_min_and_max) {
    const auto least = decided_once(spread_load(16, 0), {.min = 2});
    EXPECT_EQ(least.wanted, 2u);
    EXPECT_EQ(least.below, Below::min);

    const auto most = decided_once(spread_load(16, 5000), {.max = 3});
    EXPECT_EQ(most.wanted, 3u);
    EXPECT_EQ(most.above, Above::max);

    EXPECT_EQ(decided_once(spread_load(4, 0), {.min = 6}).wanted, 6u) << "the surplus waits";
}

TEST(ScaleFormula, starts_one_instance_for_a_group_that_was_never_read) {
    GroupLoad load;
    load.partitions.assign(16, {.unread = 1'000'000, .position = -1, .last = 999'999});

    EXPECT_EQ(decided_once(load, {}).wanted, 1u);
}

TEST(ScaleFormula, ignores_events_that_retention_removed) {
    GroupLoad load;
    load.partitions.assign(16, {.lost = 1'000'000, .position = 5, .last = 1'000'005});

    EXPECT_EQ(decided_once(load, {}).wanted, 0u);
}

TEST(ScalePolicy, refuses_what_cannot_work) {
    EXPECT_TRUE(check_policy({}).ok());
    EXPECT_FALSE(check_policy({.target = 0}).ok()) << "nothing is divided by 0";
    EXPECT_FALSE(check_policy({.target = -5}).ok());
    EXPECT_FALSE(check_policy({.min = 3, .max = 2}).ok());
    EXPECT_FALSE(check_policy({.max = 4'000'000'000}).ok());
    EXPECT_FALSE(check_policy({.in_after = std::chrono::hours(1)}).ok());
}

TEST(ScaleOut, happens_at_once_in_steps_that_double) {
    ScaledGroup group;

    std::vector<std::uint32_t> counts;
    for (int i = 0; i < 5; ++i) {
        group.note(spread_load(64, 1'000'000));
        counts.push_back(group.instances);
    }

    EXPECT_EQ(counts, (std::vector<std::uint32_t>{4, 8, 16, 32, 64}));
}

TEST(ScaleIn, waits_until_the_load_was_low_for_a_while) {
    ScaledGroup group;
    group.note(spread_load(16, 601), 10);
    ASSERT_EQ(group.instances, 8u);

    group.note(spread_load(16, 150), 60);
    EXPECT_EQ(group.instances, 8u);
    EXPECT_EQ(group.last.below, Below::recent);

    group.note(spread_load(16, 150));
    EXPECT_EQ(group.instances, 2u);
}

TEST(ScaleIn, is_not_moved_by_a_load_that_oscillates) {
    ScaledGroup group;
    group.note(spread_load(16, 801), 20);
    ASSERT_EQ(group.instances, 16u);

    for (int wave = 0; wave < 20; ++wave) {
        group.note(spread_load(16, 0), 50);
        ASSERT_EQ(group.instances, 16u);
        group.note(spread_load(16, 801), 5);
        ASSERT_EQ(group.instances, 16u);
    }
}

TEST(ScaleIn, reaches_zero_only_after_the_idle_time) {
    ScaledGroup group;
    group.note(spread_load(16, 50), 100);
    ASSERT_EQ(group.instances, 1u);

    group.note(spread_load(16, 0), 120);
    EXPECT_EQ(group.instances, 1u);
    EXPECT_EQ(group.last.below, Below::idle);

    group.note(spread_load(16, 0), 1);
    EXPECT_EQ(group.instances, 0u);

    group.note(spread_load(16, 1), 1);
    EXPECT_EQ(group.instances, 1u) << "one event wakes it";
}

// The smoothed rate of a burst is above zero for minutes.
TEST(ScaleIn, reaches_zero_after_the_idle_time_of_a_burst) {
    ScaledGroup group;
    group.note(one_partition(0, 0), 1);
    group.note(one_partition(100'000, 0), 60);
    ASSERT_EQ(group.instances, 1u);

    group.note(one_partition(100'000, 100'000), 122);

    EXPECT_EQ(group.instances, 0u) << scale_line(group.last, group.policy);
}

TEST(ScaleIn, holds_while_the_lag_is_not_known) {
    ScaledGroup group;
    group.note(spread_load(16, 601), 10);
    ASSERT_EQ(group.instances, 8u);

    group.history.note_unknown("the store does not answer");
    for (int second = 0; second < 3600; second += 60) {
        const auto held =
            decide_scale(group.history, group.policy, 8, at_second(group.second + second));
        ASSERT_EQ(held.wanted, 8u);
        ASSERT_EQ(held.unknown, "the store does not answer");
    }

    group.second += 3600;
    group.note(spread_load(16, 0));
    EXPECT_EQ(group.instances, 8u) << "an outage is not an idle hour";
    EXPECT_EQ(group.last.below, Below::young);
}

TEST(ScaleIn, keeps_what_arriving_events_need) {
    ScaledGroup group;
    group.instances = 8;
    std::int64_t stored = 10'000;
    std::int64_t handled = 10;
    const auto step = [&](std::int64_t per_instance) {
        stored += 600;
        handled = std::min(stored, handled + per_instance * group.instances);
        GroupLoad load;
        for (int p = 0; p < 16; ++p) {
            load.partitions.push_back(
                {.unread = (stored - handled) / 16, .position = handled / 16, .last = stored / 16});
        }
        group.note(load);
    };
    for (int i = 0; i < 600; ++i) step(90);

    for (int i = 0; i < 300; ++i) {
        step(90);
        ASSERT_EQ(group.instances, 8u) << "600 a second arrive, and an instance handles 90";
    }
    EXPECT_EQ(group.last.below, Below::arrivals);
}

TEST(ScaleIn, waits_for_partitions_that_move) {
    ScaledGroup group;
    group.note(spread_load(16, 601), 10);
    GroupLoad moving = spread_load(16, 150);
    group.note(moving, 60);
    moving.is_moving = true;

    group.note(moving, 30);
    EXPECT_EQ(group.instances, 8u);
    EXPECT_EQ(group.last.below, Below::moving);

    group.note(spread_load(16, 150));
    EXPECT_EQ(group.instances, 2u);
}

TEST(ScaleOfSeveral, is_the_greatest) {
    const auto few = decided_once(spread_load(16, 50), {});
    const auto many = decided_once(spread_load(16, 500), {});

    EXPECT_EQ(&greatest(few, many), &many);
    EXPECT_EQ(&greatest(many, few), &many);
}

}  // namespace
}  // namespace evenkeel::host
