#include "processor/balance/holdings.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "processor/time_fixture.h"

namespace evenkeel::processor {
namespace {

constexpr PartitionId partition{3};

class TestHost final : public PartitionHost {
public:
    void open(PartitionId, Epoch epoch) override { calls += " open" + std::to_string(epoch.value); }
    void close(PartitionId, CloseReason reason, Task done) override {
        calls += " " + std::string(to_string(reason));
        closes.push_back(std::move(done));
    }
    void finish_closing() {
        auto waiting = std::move(closes);
        closes.clear();
        for (Task& done : waiting) done();
    }
    std::string calls;
    std::vector<Task> closes;
};

checkpoint::Ownership entry(std::int64_t epoch) {
    return {.partition = partition, .owner = "me", .epoch = {epoch}};
}

class HoldingsTest : public testing::Test {
protected:
    TestHost host_;
    Holdings holdings_{host_};
};

// Trap 3.
TEST_F(HoldingsTest, what_is_given_to_us_is_not_read_before_a_write_of_our_own) {
    holdings_.hold(entry(1), false, start);
    EXPECT_EQ(host_.calls, "");
    EXPECT_FALSE(holdings_.may_act(partition));

    holdings_.hold(entry(2), true, start);

    EXPECT_EQ(host_.calls, " open2");
    EXPECT_TRUE(holdings_.may_act(partition));
}

// OWN-7, OWN-9
TEST_F(HoldingsTest, opens_again_only_after_close_and_under_a_higher_epoch) {
    holdings_.hold(entry(1), true, start);
    holdings_.unverify(partition);
    EXPECT_FALSE(holdings_.may_act(partition));

    holdings_.hold(entry(1), true, start);  // a renewal that was under way
    EXPECT_FALSE(holdings_.may_act(partition));
    holdings_.hold(entry(2), true, start);
    EXPECT_EQ(host_.calls, " open1 lost");
    EXPECT_FALSE(holdings_.may_act(partition)) << "the old pump still closes";
    host_.finish_closing();

    EXPECT_EQ(host_.calls, " open1 lost open2");
    EXPECT_TRUE(holdings_.may_act(partition));
}

TEST_F(HoldingsTest, may_act_while_draining_gracefully_but_not_once_lost) {
    holdings_.hold(entry(1), true, start);
    int drained = 0;

    holdings_.drain(partition, CloseReason::hand_over, [&] { ++drained; });
    EXPECT_TRUE(holdings_.may_act(partition));
    holdings_.unverify(partition);
    EXPECT_FALSE(holdings_.may_act(partition));
    host_.finish_closing();

    EXPECT_EQ(host_.calls, " open1 hand-over lost");
    EXPECT_EQ(drained, 1);
}

// Trap 5.
TEST_F(HoldingsTest, a_failed_hand_over_does_not_reopen_without_a_write) {
    holdings_.hold(entry(1), true, start);
    holdings_.drain(partition, CloseReason::hand_over, [&] { holdings_.keep(partition); });
    host_.finish_closing();
    EXPECT_EQ(host_.calls, " open1 hand-over");
    EXPECT_FALSE(holdings_.may_act(partition));

    holdings_.hold(entry(2), true, start);

    EXPECT_EQ(host_.calls, " open1 hand-over open2");
}

TEST_F(HoldingsTest, forgets_what_is_lost_and_tells_when_all_is_closed) {
    holdings_.hold(entry(1), true, start);
    holdings_.forget(partition);

    EXPECT_EQ(holdings_.find(partition), nullptr);
    EXPECT_FALSE(holdings_.all_closed());
    host_.finish_closing();
    EXPECT_TRUE(holdings_.all_closed());
}

}  // namespace
}  // namespace evenkeel::processor
