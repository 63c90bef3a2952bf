#include "processor/ownership/renewals.h"

#include <gtest/gtest.h>

#include "processor/host_fixture.h"
#include "processor/time_fixture.h"

namespace evenkeel::processor {
namespace {

class RenewalsOfTwo : public testing::Test {
protected:
    void hold(std::uint32_t partition, Instant renewed) {
        checkpoint::Ownership entry{.partition = PartitionId{partition}};
        entry.epoch = Epoch{1};
        holdings_.hold(entry, true, renewed);
    }
    bool is_due(const Renewals& renewals, std::uint32_t partition, Instant now) {
        return renewals.is_due(*holdings_.find(PartitionId{partition}), holdings_, now);
    }

    NoHost host_;
    Holdings holdings_{host_};
};

TEST_F(RenewalsOfTwo, come_before_three_eighths_of_the_expiry) {
    const Timing timing = standard_timing();
    const Renewals renewals(timing);
    hold(0, start);

    EXPECT_FALSE(is_due(renewals, 0, start + timing.heartbeat));
    EXPECT_TRUE(is_due(renewals, 0, start + timing.foreign_expiry * 3 / 8));
}

TEST_F(RenewalsOfTwo, write_one_record_for_all_where_requests_are_expensive) {
    const Timing timing = thrifty_timing();
    const Renewals renewals(timing);
    hold(0, start);
    hold(1, start);

    EXPECT_TRUE(is_due(renewals, 0, start + timing.poll));
    EXPECT_FALSE(is_due(renewals, 1, start + timing.poll));
}

TEST_F(RenewalsOfTwo, notice_processors_of_other_sdks_once) {
    const Timing timing = standard_timing();
    Renewals renewals(timing);
    View view;
    view.members = {{.id = "a"}, {.id = "b", .is_foreign = true}};

    EXPECT_TRUE(renewals.set_foreign(view));
    EXPECT_FALSE(renewals.set_foreign(view));
    EXPECT_TRUE(renewals.has_foreign());
}

}  // namespace
}  // namespace evenkeel::processor
