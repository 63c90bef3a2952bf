#include "processor/balance/members.h"

#include <gtest/gtest.h>

#include "processor/time_fixture.h"

namespace evenkeel::processor {
namespace {

using namespace std::chrono_literals;
using checkpoint::Member;
using checkpoint::MemberState;

Member a_member(const std::string& id, const std::string& version, Duration age = 0s) {
    Member member{.id = id, .incarnation = id + ".1"};
    member.version = version;
    member.age = age;
    return member;
}

Member an_exact(const std::string& id, const std::string& version, Duration age) {
    Member member = a_member(id, version, age);
    member.is_age_exact = true;
    return member;
}

class MembersTest : public testing::Test {
protected:
    Members::Change observe(Duration at, std::vector<Member> listed) {
        return members_.observe(std::move(listed), start + at);
    }

    static Timing timing() {
        Timing timing = standard_timing();
        timing.by_exact_age = true;
        return timing;
    }

    Members members_{"me", timing()};
};

TEST_F(MembersTest, whoever_writes_lives_however_wrong_its_clock_is) {
    for (int i = 0; i < 20; ++i) {
        Member other = a_member("a", std::to_string(i));
        other.since_ms = -1'000'000;
        observe(i * 2s, {a_member("me", "1"), other});
        EXPECT_TRUE(members_.is_live("a"));
    }
}

TEST_F(MembersTest, is_dead_once_one_version_was_watched_for_long_enough) {
    observe(0s, {a_member("a", "1")});
    observe(2s, {a_member("a", "1")});
    EXPECT_EQ(members_.next_death(), start + 6s);
    observe(4s, {a_member("a", "1")});
    EXPECT_TRUE(members_.is_live("a"));

    EXPECT_TRUE(observe(6s, {a_member("a", "1")}).died);

    EXPECT_FALSE(members_.is_live("a"));
    EXPECT_TRUE(observe(7s, {a_member("a", "2")}).joined);
    EXPECT_TRUE(members_.is_live("a"));
}

TEST_F(MembersTest, an_exact_age_counts_from_the_write) {
    observe(0s, {an_exact("a", "1", 1s)});
    EXPECT_EQ(members_.next_death(), start + 6s) << "the first look tells nothing about the store";

    observe(2s, {an_exact("a", "2", 1500ms)});

    EXPECT_EQ(members_.next_death(), start + 500ms + 6s);
    observe(4s, {an_exact("a", "2", 3500ms)});
    EXPECT_EQ(members_.next_death(), start + 500ms + 6s);
}

TEST_F(MembersTest, an_exact_age_never_reaches_back_behind_the_listing_before) {
    observe(0s, {an_exact("a", "1", 0s)});
    observe(2s, {an_exact("a", "2", 2500ms)});

    EXPECT_EQ(members_.next_death(), start + 6s) << "it was not there at 0 s";
}

TEST_F(MembersTest, an_age_that_may_be_cut_does_not_count_before_our_look_at_it) {
    observe(0s, {a_member("a", "1")});
    observe(2s, {a_member("a", "2", 1s)});

    EXPECT_EQ(members_.next_death(), start + 8s);
}

TEST_F(MembersTest, after_the_store_was_away_for_a_moment_all_may_write_first) {
    for (int i = 0; i <= 2; ++i) observe(i * 2s, {an_exact("a", "1", i * 2s)});
    members_.note_failure();

    observe(6s, {an_exact("a", "1", 6s)});
    EXPECT_TRUE(members_.is_live("a"));
    EXPECT_EQ(members_.next_death(), start + 7s);

    members_.note_failure();
    observe(7s, {an_exact("a", "1", 6s)});
    EXPECT_FALSE(members_.is_live("a")) << "once is enough";
}

TEST_F(MembersTest, a_step_of_the_stores_clock_condemns_nobody) {
    observe(0s, {a_member("a", "1", 0s)});
    for (int i = 1; i <= 20; ++i) {
        observe(i * 2s, {a_member("a", std::to_string(1 + i), 600s)});
        EXPECT_TRUE(members_.is_live("a")) << i;
        EXPECT_EQ(members_.next_death(), start + i * 2s + 6s);
        EXPECT_FALSE(members_.others().at("a").is_silent) << "we have seen it writing";
    }
}

TEST_F(MembersTest, one_that_is_old_at_the_first_look_is_silent_but_lives) {
    observe(0s, {a_member("a", "1", 60s), a_member("b", "1", 0s)});
    EXPECT_TRUE(members_.is_live("a"));
    EXPECT_TRUE(members_.others().at("a").is_silent);
    EXPECT_FALSE(members_.others().at("b").is_silent);

    observe(2s, {a_member("a", "2", 0s), a_member("b", "2", 60s)});

    EXPECT_FALSE(members_.others().at("a").is_silent);
    EXPECT_FALSE(members_.others().at("b").is_silent);
}

TEST_F(MembersTest, one_that_was_dead_before_we_came_is_watched_first) {
    observe(0s, {a_member("a", "1", 60s), a_member("b", "1", 61s)});
    EXPECT_TRUE(members_.is_live("a"));
    EXPECT_TRUE(members_.is_live("b"));

    observe(2s, {a_member("a", "1", 62s), a_member("b", "2", 0s)});
    observe(4s, {a_member("a", "1", 64s), a_member("b", "3", 0s)});
    observe(6s, {a_member("a", "1", 66s), a_member("b", "4", 0s)});

    EXPECT_FALSE(members_.is_live("a"));
    EXPECT_TRUE(members_.is_live("b"));
}

// Trap 10.
TEST_F(MembersTest, an_outage_restarts_the_time_until_a_member_is_dead) {
    observe(0s, {a_member("a", "1")});

    observe(20s, {a_member("a", "1", 20s)});

    EXPECT_TRUE(members_.is_live("a"));
    observe(22s, {a_member("a", "1", 22s)});
    observe(24s, {a_member("a", "1", 24s)});
    EXPECT_TRUE(members_.is_live("a"));
    observe(26s, {a_member("a", "1", 26s)});
    EXPECT_FALSE(members_.is_live("a"));
}

// A listing whose answer was lost made us blind for a moment, and the long dead came back to life.
TEST_F(MembersTest, who_was_found_dead_stays_so_until_it_writes_again) {
    for (int i = 0; i <= 3; ++i) observe(i * 2s, {a_member("a", "1")});
    EXPECT_FALSE(members_.is_live("a"));

    EXPECT_FALSE(observe(20s, {a_member("a", "1")}).joined);

    EXPECT_FALSE(members_.is_live("a"));
}

// The store answers, but one listing takes long: nobody was away.
TEST_F(MembersTest, one_slow_listing_does_not_hide_a_death) {
    observe(0s, {a_member("a", "1"), a_member("b", "1")});
    for (const Duration at : {2s, 4s, 6s}) members_.note_answer(10ms, start + at);

    observe(6s, {a_member("a", "1"), a_member("b", "2")});

    EXPECT_FALSE(members_.is_live("a"));
    EXPECT_TRUE(members_.is_live("b"));
}

TEST_F(MembersTest, answers_after_a_silence_do_not_make_up_for_it) {
    observe(0s, {a_member("a", "1")});
    members_.note_answer(10ms, start + 7s);
    members_.note_answer(10ms, start + 8s);

    observe(9s, {a_member("a", "1")});

    EXPECT_TRUE(members_.is_live("a")) << "it may have been cut off as we were";
}

TEST_F(MembersTest, two_slow_writes_do_not_make_us_patient) {
    for (int i = 0; i < 9; ++i) members_.note_answer(100ms, start + i * 2s);
    for (int i = 9; i < 11; ++i) members_.note_answer(3s, start + i * 2s);
    EXPECT_EQ(members_.death_after(), 6s);

    members_.note_answer(3s, start + 22s);
    EXPECT_GT(members_.death_after(), 20s) << "three do: the store is slow";
}

TEST_F(MembersTest, a_slow_store_makes_us_patient) {
    for (int i = 0; i < 100; ++i) members_.note_answer(1s, start + i * 1s);

    EXPECT_GT(members_.death_after(), 11s);
}

TEST_F(MembersTest, crashes_cost_probation_that_doubles_up_to_a_bound) {
    EXPECT_EQ(members_.probation(0), 0s);
    EXPECT_EQ(members_.probation(1), 12s);
    EXPECT_EQ(members_.probation(2), 24s);
    EXPECT_EQ(members_.probation(4), 60s);
    EXPECT_EQ(members_.probation(4'000'000'000), 60s);
}

TEST_F(MembersTest, one_that_leaves_lives_but_is_given_nothing) {
    Member other = a_member("a", "1");
    other.state = MemberState::leaving;
    observe(0s, {other});

    EXPECT_TRUE(members_.is_live("a"));
    EXPECT_FALSE(members_.is_up("a"));
    EXPECT_TRUE(observe(1s, {}).content);
    EXPECT_FALSE(members_.is_live("a"));
}

}  // namespace
}  // namespace evenkeel::processor
