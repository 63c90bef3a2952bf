#include "base/budget.h"

#include <thread>

#include <gtest/gtest.h>

#include "base/promise.h"

namespace evenkeel {
namespace {

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
    ASSERT_TRUE(budget.take(1));
    Promise<bool> taken, refused;
    std::thread first([&] { taken.set(budget.take(1)); });
    budget.give_back(1, 1);
    EXPECT_TRUE(taken.wait());
    first.join();

    std::thread second([&] { refused.set(budget.take(1)); });
    budget.close();

    EXPECT_FALSE(refused.wait());
    second.join();
}

}  // namespace
}  // namespace evenkeel
