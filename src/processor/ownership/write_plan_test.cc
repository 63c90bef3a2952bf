#include "processor/ownership/write_plan.h"

#include <chrono>

#include <gtest/gtest.h>

#include "processor/ownership/step_fixture.h"

namespace evenkeel::processor {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using Kind = OwnershipWrite::Kind;

class NoHost final : public PartitionHost {
public:
    void open(PartitionId, Epoch) override {}
    void close(PartitionId, CloseReason, Task done) override { done(); }
};

// A member "a" of two, "b" is the other; both have been there for long.
class WritePlanTest : public testing::Test {
protected:
    WritePlanTest() {
        options_.id = "a";
        options_.timing = rig_.timing;
        ownerships_.resize(8);
        view_.self = 0;
        view_.members = {{.id = "a"}, {.id = "b"}};
        plan_.quotas = {4, 4};
        lease_.renewed(rig_.now(), rig_.now());
        rig_.run_for(rig_.timing.ramp + seconds(1));
    }
    void hold(std::uint32_t partition, bool is_verified = true) {
        const checkpoint::Ownership entry{
            .partition = {partition}, .owner = "a", .epoch = {5}, .version = "v"};
        ownerships_.set(entry, rig_.now());
        holdings_.hold(entry, is_verified, rig_.now());
    }
    std::vector<OwnershipWrite> choose() {
        return choose_writes({.options = options_,
                              .view = view_,
                              .plan = plan_,
                              .holdings = holdings_,
                              .ownerships = ownerships_,
                              .hand_overs = hand_overs_,
                              .loads = loads_,
                              .renewals = renewals_,
                              .lease = lease_,
                              .started_at = started_at_,
                              .is_leaving = is_leaving_,
                              .is_calm = is_calm_,
                              .now = rig_.now(),
                              .wall = WallTime{777}});
    }

    StepRig rig_;
    NoHost host_;
    CoordinatorOptions options_;
    View view_;
    Plan plan_;
    Holdings holdings_{host_};
    Ownerships ownerships_;
    Members members_{"a", rig_.timing};
    OwnershipWriter writer_{rig_.loop, rig_.store, ownerships_, rig_.steps};
    HandOvers hand_overs_{{rig_.loop, writer_, holdings_, ownerships_, members_},
                          [](PartitionId, HandOvers::Outcome) {}};
    SmoothedLoads loads_{rig_.timing};
    Renewals renewals_{rig_.timing};
    Lease lease_{minutes(10)};
    Instant started_at_ = rig_.now();
    bool is_leaving_ = false;
    bool is_calm_ = true;
};

TEST_F(WritePlanTest, claims_what_is_free_with_the_next_epoch) {
    ownerships_.set({.partition = {2}, .epoch = {6}, .version = "free"}, rig_.now());
    plan_.claims = {{2}};

    const auto writes = choose();

    ASSERT_EQ(writes.size(), 1u);
    EXPECT_EQ(writes[0].kind, Kind::claim);
    EXPECT_EQ(writes[0].entry.owner, "a");
    EXPECT_EQ(writes[0].entry.epoch.value, 7);
    EXPECT_EQ(writes[0].entry.version, "free") << "it replaces what we know";
    EXPECT_EQ(writes[0].entry.since_ms, 777);
    EXPECT_FALSE(writes[0].is_take_over);
}

TEST_F(WritePlanTest, says_from_whom_it_takes_over) {
    ownerships_.set({.partition = {2}, .owner = "b", .epoch = {6}, .version = "v"}, rig_.now());
    plan_.claims = {{2}};

    const auto writes = choose();

    ASSERT_EQ(writes.size(), 1u);
    EXPECT_TRUE(writes[0].is_take_over) << "b must be looked at once more";
    EXPECT_EQ(writes[0].from, "b");
}

TEST_F(WritePlanTest, takes_its_share_in_steps_while_it_is_new) {
    plan_.claims = {{0}, {1}, {2}, {3}};
    started_at_ = rig_.now();
    EXPECT_EQ(choose().size(), 1u);

    started_at_ = rig_.now() - rig_.timing.ramp / 2;
    EXPECT_EQ(choose().size(), 2u);

    options_.strategy = Strategy::greedy;
    started_at_ = rig_.now();
    EXPECT_EQ(choose().size(), 4u);
}

TEST_F(WritePlanTest, verifies_what_was_given_to_it) {
    hold(1, false);

    const auto writes = choose();

    ASSERT_EQ(writes.size(), 1u);
    EXPECT_EQ(writes[0].kind, Kind::verify);
    EXPECT_EQ(writes[0].entry.epoch.value, 6);

    holdings_.find({1})->fences = 3;
    EXPECT_EQ(choose().at(0).entry.epoch.value, 5 + 8) << "the epoch it meets may be far ahead";
    holdings_.find({1})->not_before = rig_.now() + seconds(1);
    EXPECT_TRUE(choose().empty());
}

TEST_F(WritePlanTest, renews_only_what_is_due) {
    hold(1);
    EXPECT_TRUE(choose().empty());

    rig_.run_for(rig_.timing.foreign_expiry * 3 / 8);

    const auto writes = choose();
    ASSERT_EQ(writes.size(), 1u);
    EXPECT_EQ(writes[0].kind, Kind::renew);
    EXPECT_EQ(writes[0].entry.epoch.value, 5) << "nobody else had it";
}

TEST_F(WritePlanTest, writes_again_what_it_held_before_its_lease_was_back) {
    hold(1);
    rig_.run_for(seconds(1));
    lease_.end();
    lease_.renewed(rig_.now(), rig_.now());

    ASSERT_EQ(choose().size(), 1u);
    EXPECT_EQ(choose()[0].kind, Kind::renew);
}

TEST_F(WritePlanTest, leaves_alone_what_is_being_written_or_given_away) {
    hold(1, false);
    hold(2, false);
    ownerships_.begin_write({1});
    hand_overs_.begin({2}, "b", CloseReason::hand_over, rig_.now() + seconds(1));
    plan_.claims = {{1}, {3}};
    ownerships_.begin_write({3});

    EXPECT_TRUE(choose().empty());
}

TEST_F(WritePlanTest, claims_and_verifies_nothing_when_it_leaves) {
    hold(1, false);
    plan_.claims = {{2}};
    is_leaving_ = true;

    EXPECT_TRUE(choose().empty());
}

TEST_F(WritePlanTest, takes_from_other_sdks_only_when_the_group_is_calm) {
    ownerships_.set({.partition = {2}, .owner = "sdk", .version = "v"}, rig_.now());
    plan_.steals = {{2}};
    is_calm_ = false;
    EXPECT_TRUE(choose().empty());

    is_calm_ = true;

    ASSERT_EQ(choose().size(), 1u);
    EXPECT_FALSE(choose()[0].is_take_over) << "no member of ours had it";
}

}  // namespace
}  // namespace evenkeel::processor
