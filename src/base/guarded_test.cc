#include "base/guarded.h"

#include <memory>
#include <thread>

#include <gtest/gtest.h>

namespace evenkeel {
namespace {

TEST(Guarded, lets_one_thread_at_a_time_use_its_value) {
    constexpr int rounds = 10'000;
    Guarded<int> count;
    const auto add = [&] {
        for (int i = 0; i < rounds; ++i) count.with([](int& value) { ++value; });
    };

    std::thread other(add);
    add();
    other.join();

    EXPECT_EQ(count.with([](int value) { return value; }), 2 * rounds);
}

TEST(Guarded, holds_what_can_only_be_moved) {
    Guarded<std::unique_ptr<int>> guarded(std::make_unique<int>(7));

    const auto taken = guarded.with([](auto& value) { return std::move(value); });

    EXPECT_EQ(*taken, 7);
    EXPECT_TRUE(std::as_const(guarded).with([](const auto& value) { return value == nullptr; }));
}

TEST(Guarded, may_be_used_again_after_an_early_return) {
    Guarded<int> guarded(1);

    EXPECT_EQ(guarded.with([](int& value) { return value++; }), 1);
    EXPECT_EQ(guarded.with([](int& value) { return value++; }), 2);
}

TEST(GuardedDeathTest, refuses_a_lock_inside_a_lock) {
    Guarded<int> first;
    Guarded<int> second;

    EXPECT_DEATH(first.with([&](int&) { second.with([](int&) {}); }), "locks do not nest");
    EXPECT_DEATH(first.with([&](int&) { first.with([](int&) {}); }), "locks do not nest");
}

}  // namespace
}  // namespace evenkeel
