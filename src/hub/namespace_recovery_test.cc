#include <gtest/gtest.h>

#include "hub/hub_fixture.h"

namespace evenkeel::hub {
namespace {

using namespace std::chrono_literals;

// A hub of eight partitions with an event each, that is opened again and not yet recovered.
class RecoveringHub : public testing::Test, public HubFixture {
protected:
    void SetUp() override {
        ASSERT_TRUE(open().ok());
        ASSERT_TRUE(create("h", {.partitions = 8}).ok());
        for (std::uint32_t i = 0; i < 8; ++i) {
            ASSERT_TRUE(append("h", i, {std::to_string(i)}).ok());
        }
        close();
        background = true;
        ASSERT_TRUE(open().ok());
    }
    bool recover() {
        return scheduler.run_until([&] { return hub->recovery().done(); }, 1h);
    }
};

TEST_F(RecoveringHub, is_there_at_once_and_asks_to_come_back) {
    EXPECT_EQ(hub->recovery().partitions, 8u);
    EXPECT_EQ(hub->recovery().recovered, 0u);

    EXPECT_EQ(hub->list().size(), 1u);
    EXPECT_EQ(attach("h", 3).error().code, ErrorCode::unavailable);
    EXPECT_EQ(append("h", 3, {"x"}).error().code, ErrorCode::unavailable);
    EXPECT_EQ(create("other").error().code, ErrorCode::unavailable);
    EXPECT_EQ(remove("h").error().code, ErrorCode::unavailable);
    EXPECT_NE(append("h", 3, {"x"}).error().detail.find("partition 3"), std::string::npos);
}

TEST_F(RecoveringHub, serves_each_partition_once_it_is_recovered) {
    bool told = false;
    hub->when_recovered([&](const Result<>& result) { told = result.ok(); });
    hub->start();
    ASSERT_TRUE(scheduler.run_until([&] { return hub->recovery().recovered == 3; }, 1h));
    std::size_t good = 0;
    for (std::uint32_t i = 0; i < 8; ++i) good += read("h", i).ok() ? 1 : 0;
    EXPECT_EQ(good, 3u);
    EXPECT_FALSE(told);

    ASSERT_TRUE(recover());

    EXPECT_TRUE(told);
    for (std::uint32_t i = 0; i < 8; ++i) EXPECT_EQ(*read("h", i), Bodies{std::to_string(i)});
    EXPECT_TRUE(append("h", 3, {"x"}).ok());
    EXPECT_TRUE(create("other").ok());
}

TEST_F(RecoveringHub, tells_of_a_partition_that_cannot_be_recovered) {
    disk->fail({.kind = io::sim::OperationKind::list, .path_contains = "00005"});
    hub->start();
    ASSERT_TRUE(recover());

    EXPECT_FALSE(read("h", 5).ok());
    EXPECT_TRUE(read("h", 4).ok());
}

TEST_F(RecoveringHub, can_be_closed_in_the_middle) {
    std::optional<ErrorCode> told;
    hub->when_recovered([&](const Result<>& result) { told = result.error().code; });
    hub->start();
    ASSERT_TRUE(scheduler.run_until([&] { return hub->recovery().recovered == 2; }, 1h));

    close();

    EXPECT_EQ(told, ErrorCode::cancelled);
    background = false;
    ASSERT_TRUE(open().ok());
    for (std::uint32_t i = 0; i < 8; ++i) EXPECT_EQ(*read("h", i), Bodies{std::to_string(i)});
}

}  // namespace
}  // namespace evenkeel::hub
