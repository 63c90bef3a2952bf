#include "processor/ownership/hand_over.h"

#include <chrono>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "processor/ownership/step_fixture.h"

namespace evenkeel::processor {
namespace {

using checkpoint::Member;
using checkpoint::MemberState;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Outcome = HandOvers::Outcome;

constexpr PartitionId moving{3};

// A host whose pumps close when a test says so.
class SlowHost final : public PartitionHost {
public:
    void open(PartitionId, Epoch) override { ++opened; }
    void close(PartitionId, CloseReason reason, Task done) override {
        closed_as = reason;
        closing.push_back(std::move(done));
    }
    void finish() {
        auto waiting = std::move(closing);
        closing.clear();
        for (Task& done : waiting) done();
    }
    int opened = 0;
    std::optional<CloseReason> closed_as;
    std::vector<Task> closing;
};

class HandOversTest : public testing::Test {
protected:
    HandOversTest() {
        ownerships_.resize(4);
        checkpoint::Table table;
        const auto version = table.write_ownership(
            {.partition = moving, .owner = "a", .epoch = {5}}, {rig_.now(), {}});
        rig_.server.restore(rig_.group, table);
        holdings_.hold({.partition = moving, .owner = "a", .epoch = {5}, .version = *version}, true,
                       rig_.now());
        see_b(false);
    }
    // Member b, as a look at the group shows it.
    void see_b(bool is_expecting, MemberState state = MemberState::active) {
        Member member{.id = "b", .incarnation = "1", .state = state, .expecting = is_expecting};
        member.version = std::to_string(++versions_);
        members_.observe({member}, rig_.now());
    }
    void offer(const std::string& to) {
        hand_overs_.begin(moving, to, CloseReason::hand_over, rig_.now() + seconds(2));
        hand_overs_.advance();
    }
    checkpoint::Ownership stored() const { return rig_.table().ownerships({})[0]; }
    bool run_until_ended() {
        return rig_.run_until([this] { return outcome_.has_value(); });
    }

    StepRig rig_;
    SlowHost host_;
    Holdings holdings_{host_};
    Ownerships ownerships_;
    Members members_{"a", rig_.timing};
    int versions_ = 0;
    OwnershipWriter writer_{rig_.loop, rig_.store, ownerships_, rig_.steps};
    std::optional<Outcome> outcome_;
    HandOvers hand_overs_{{rig_.loop, writer_, holdings_, ownerships_, members_},
                          [this](PartitionId, Outcome outcome) { outcome_ = outcome; }};
};

TEST_F(HandOversTest, reads_on_until_the_receiver_waits_for_it) {
    offer("b");
    EXPECT_FALSE(host_.closed_as);
    EXPECT_EQ(hand_overs_.offers().at(moving), "b");
    EXPECT_EQ(hand_overs_.next_deadline(), rig_.now() + seconds(2));

    see_b(true);
    hand_overs_.advance();

    EXPECT_EQ(host_.closed_as, CloseReason::hand_over);
}

TEST_F(HandOversTest, goes_on_without_a_receiver_that_looks_often) {
    offer("b");
    rig_.run_for(seconds(2));

    hand_overs_.advance();

    EXPECT_EQ(host_.closed_as, CloseReason::hand_over);
}

TEST_F(HandOversTest, names_the_receiver_once_the_pump_is_closed) {
    see_b(true);
    offer("b");
    rig_.run_for(seconds(1));
    EXPECT_EQ(stored().owner, "a") << "its progress is not stored yet";

    host_.finish();
    ASSERT_TRUE(run_until_ended());

    EXPECT_EQ(outcome_, Outcome::given);
    EXPECT_EQ(stored().owner, "b");
    EXPECT_EQ(stored().epoch.value, 6);
    EXPECT_EQ(holdings_.find(moving), nullptr);
    EXPECT_TRUE(hand_overs_.empty());
    EXPECT_TRUE(hand_overs_.offers().empty());
}

TEST_F(HandOversTest, releases_without_an_offer) {
    offer("");
    EXPECT_TRUE(hand_overs_.offers().empty());
    host_.finish();
    ASSERT_TRUE(run_until_ended());

    EXPECT_EQ(outcome_, Outcome::given);
    EXPECT_EQ(stored().owner, "");
}

TEST_F(HandOversTest, keeps_what_a_receiver_that_leaves_does_not_take) {
    offer("b");

    see_b(false, MemberState::leaving);
    hand_overs_.advance();

    EXPECT_EQ(outcome_, Outcome::kept);
    EXPECT_FALSE(host_.closed_as);
}

TEST_F(HandOversTest, keeps_it_if_the_receiver_leaves_while_it_drains) {
    see_b(true);
    offer("b");
    see_b(false, MemberState::leaving);

    host_.finish();
    rig_.run_for(seconds(1));

    EXPECT_EQ(outcome_, Outcome::kept);
    EXPECT_EQ(stored().owner, "a");
    ASSERT_NE(holdings_.find(moving), nullptr);
    EXPECT_FALSE(holdings_.find(moving)->is_handing_over);
}

TEST_F(HandOversTest, has_lost_what_another_has_written) {
    see_b(true);
    offer("b");
    checkpoint::Table table = rig_.table();
    checkpoint::Ownership taken = table.ownerships({})[0];
    taken.owner = "c";
    taken.epoch = {6};
    ASSERT_TRUE(table.write_ownership(taken, {rig_.now(), {}}).ok());
    rig_.server.restore(rig_.group, table);

    host_.finish();
    ASSERT_TRUE(run_until_ended());

    EXPECT_EQ(outcome_, Outcome::lost);
    EXPECT_EQ(stored().owner, "c");
    EXPECT_EQ(holdings_.find(moving), nullptr);
}

TEST_F(HandOversTest, does_not_read_again_after_a_write_of_unknown_outcome) {
    see_b(true);
    offer("b");
    rig_.faults.outage = true;

    host_.finish();
    ASSERT_TRUE(run_until_ended());

    EXPECT_EQ(outcome_, Outcome::unknown);
    ASSERT_NE(holdings_.find(moving), nullptr);
    EXPECT_FALSE(holdings_.find(moving)->is_verified);
    EXPECT_EQ(host_.opened, 1) << "not before its entry tells";
}

}  // namespace
}  // namespace evenkeel::processor
