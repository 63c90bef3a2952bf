#include "base/task.h"

#include <array>
#include <memory>
#include <string>

#include <gtest/gtest.h>

namespace evenkeel {
namespace {

// Counts how many of it live, whatever is copied, moved or destroyed.
template <std::size_t Bytes>
struct Counted {
    explicit Counted(int& count) : alive(&count) { ++*alive; }
    Counted(const Counted& other) : alive(other.alive) { ++*alive; }
    Counted(Counted&& other) noexcept : alive(other.alive) { ++*alive; }
    Counted& operator=(const Counted&) = delete;
    ~Counted() { --*alive; }

    int* alive;
    std::array<char, Bytes> weight{};
};

using Small = Counted<8>;    // lies inside the callback
using Large = Counted<200>;  // lies on the heap

template <typename Capture>
class CallbackCaptures : public testing::Test {};
using Captures = testing::Types<Small, Large>;
TYPED_TEST_SUITE(CallbackCaptures, Captures);

TYPED_TEST(CallbackCaptures, are_destroyed_once_with_the_callback) {
    int alive = 0;
    {
        const Task task = [capture = TypeParam(alive)] { (void)capture; };
        EXPECT_EQ(alive, 1);
    }
    EXPECT_EQ(alive, 0);
}

TYPED_TEST(CallbackCaptures, move_with_the_callback) {
    int alive = 0;
    int calls = 0;
    Task task = [&calls, capture = TypeParam(alive)] { calls += *capture.alive; };

    Task moved = std::move(task);

    EXPECT_EQ(alive, 1);
    EXPECT_FALSE(task);  // NOLINT(bugprone-use-after-move): that it is empty is what we test
    ASSERT_TRUE(moved);
    moved();
    moved();
    EXPECT_EQ(calls, 2);
}

TYPED_TEST(CallbackCaptures, are_destroyed_when_another_callback_takes_their_place) {
    int old_alive = 0;
    int new_alive = 0;
    Task task = [capture = TypeParam(old_alive)] { (void)capture; };

    task = [capture = TypeParam(new_alive)] { (void)capture; };
    EXPECT_EQ(old_alive, 0);
    EXPECT_EQ(new_alive, 1);

    task = nullptr;
    EXPECT_EQ(new_alive, 0);
    EXPECT_FALSE(task);
}

TYPED_TEST(CallbackCaptures, survive_a_move_onto_itself) {
    int alive = 0;
    Task task = [capture = TypeParam(alive)] { (void)capture; };
    Task& same = task;

    task = std::move(same);

    EXPECT_EQ(alive, 1);
    EXPECT_TRUE(task);
}

TYPED_TEST(CallbackCaptures, keep_their_state_between_calls) {
    int alive = 0;
    Callback<int()> count = [n = 0, capture = TypeParam(alive)]() mutable {
        (void)capture;
        return ++n;
    };

    EXPECT_EQ(count(), 1);
    Callback<int()> moved = std::move(count);
    EXPECT_EQ(moved(), 2);
}

TEST(Callback, takes_and_gives_values) {
    Callback<std::string(const std::string&, int)> repeat = [](const std::string& text, int times) {
        std::string all;
        for (int i = 0; i < times; ++i) all += text;
        return all;
    };

    EXPECT_EQ(repeat("ab", 3), "ababab");
}

TEST(Callback, takes_what_cannot_be_copied) {
    Callback<int(std::unique_ptr<int>)> add = [held = std::make_unique<int>(1)](auto given) {
        return *held + *given;
    };

    EXPECT_EQ(add(std::make_unique<int>(2)), 3);
}

TEST(Callback, changes_what_it_was_given_by_reference) {
    int value = 1;
    Callback<void(int&)> twice = [](int& number) { number *= 2; };

    twice(value);

    EXPECT_EQ(value, 2);
}

TEST(Callback, takes_a_plain_function) {
    Callback<int(int)> negate = +[](int value) { return -value; };

    EXPECT_EQ(negate(3), -3);
}

TEST(Callback, is_empty_until_given_something) {
    const Task none{};
    const Task null = nullptr;
    const Task some = [] {};

    EXPECT_FALSE(none);
    EXPECT_FALSE(null);
    EXPECT_TRUE(some);
}

TEST(CallbackDeathTest, calling_an_empty_one_ends_the_process) {
    Task none;

    EXPECT_DEATH(none(), "empty callback");
}

}  // namespace
}  // namespace evenkeel
