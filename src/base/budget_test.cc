#include "base/budget.h"

#include <thread>

#include <gtest/gtest.h>

#include "base/promise.h"

namespace evenkeel {
namespace {

using namespace std::chrono_literals;

TEST(Budget, has_room_up_to_its_count_and_its_bytes) {
    Budget budget(3, 100);

    EXPECT_TRUE(budget.try_take(50));
    EXPECT_TRUE(budget.try_take(50));
    EXPECT_FALSE(budget.try_take(1)) << "bytes";
    EXPECT_TRUE(budget.try_take(0));
    EXPECT_FALSE(budget.try_take(0)) << "count";

    budget.give_back(1, 50);
    EXPECT_TRUE(budget.try_take(50));
    EXPECT_EQ(budget.bytes(), 100u);
}

TEST(Budget, lets_one_alone_be_larger_than_all) {
    Budget budget(3, 100);

    EXPECT_TRUE(budget.try_take(1000));

    EXPECT_FALSE(budget.try_take(1));
}

TEST(Budget, wakes_those_who_wait_when_there_is_room_or_when_it_is_closed) {
    Budget budget(1, 100);
    ASSERT_TRUE(budget.take(1).ok());
    Promise<bool> taken, refused;
    std::thread first([&] { taken.set(budget.take(1).ok()); });
    budget.give_back(1, 1);
    EXPECT_TRUE(taken.wait());
    first.join();

    std::thread second([&] { refused.set(budget.take(1).ok()); });
    budget.close();

    EXPECT_FALSE(refused.wait());
    second.join();
}

TEST(Budget, is_waited_for_only_until_a_time) {
    Budget budget(1, 100);
    ASSERT_TRUE(budget.take(1).ok());

    EXPECT_EQ(budget.take(1, 1ms).error().code, ErrorCode::timed_out);
    EXPECT_EQ(budget.take(1, -1ms).error().code, ErrorCode::timed_out);

    budget.give_back(1, 1);
    EXPECT_TRUE(budget.take(1, 0ms).ok()) << "what has room does not wait";
}

TEST(Budget, is_waited_for_only_until_a_stop) {
    Budget budget(1, 100);
    ASSERT_TRUE(budget.take(1).ok());
    std::stop_source stop;
    Promise<ErrorCode> ended;
    std::thread waits([&] { ended.set(budget.take(1, 60s, stop.get_token()).error().code); });

    stop.request_stop();

    EXPECT_EQ(ended.wait(), ErrorCode::cancelled);
    waits.join();
    budget.give_back(1, 1);
    EXPECT_EQ(budget.take(1, 60s, stop.get_token()).error().code, ErrorCode::cancelled)
        << "nothing is taken after a stop, though there is room";
    EXPECT_EQ(budget.bytes(), 0u);
}

}  // namespace
}  // namespace evenkeel
