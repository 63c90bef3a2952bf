#include "processor/balance/smoothed_loads.h"

#include <gtest/gtest.h>

#include "processor/host_fixture.h"
#include "processor/time_fixture.h"

namespace evenkeel::processor {
namespace {

constexpr PartitionId partition{0};

class LoadOfOne : public testing::Test {
protected:
    void SetUp() override { publish(100); }
    void publish(double load) {
        checkpoint::Ownership entry{.partition = partition};
        entry.epoch = Epoch{1};
        entry.load = load;
        holdings_.hold(entry, true, start);
    }
    bool measure(double load, Instant now) {
        return loads_.measure(
            holdings_, [load](PartitionId) { return load; }, now);
    }

    const Timing timing_{};
    NoHost host_;
    Holdings holdings_{host_};
    SmoothedLoads loads_{timing_};
};

TEST_F(LoadOfOne, is_smoothed_unless_it_jumps) {
    measure(100, start);
    measure(140, start);
    EXPECT_NEAR(*loads_.of(partition), 100, 1);

    measure(400, start);
    EXPECT_EQ(loads_.of(partition), 400);
}

TEST_F(LoadOfOne, is_due_once_it_changed_and_a_heartbeat_has_passed) {
    EXPECT_FALSE(measure(100, start + timing_.heartbeat));
    EXPECT_FALSE(measure(400, start));
    EXPECT_TRUE(measure(400, start + timing_.heartbeat));
}

TEST_F(LoadOfOne, is_forgotten_with_its_partition) {
    measure(100, start);
    holdings_.forget(partition);
    measure(100, start);

    EXPECT_EQ(loads_.of(partition), std::nullopt);
}

}  // namespace
}  // namespace evenkeel::processor
