#include "demo/moves.h"

#include <gtest/gtest.h>

namespace evenkeel::demo {
namespace {

constexpr Stage two_run{.started = 2, .living = 2};

TEST(DemoMoves, have_a_key_and_a_button_each) {
    MoveQueue queue;
    queue.set_stage(two_run);
    const auto controls = queue.controls();

    ASSERT_EQ(controls.actions.size(), 5U);
    for (const auto& action : controls.actions) {
        EXPECT_TRUE(controls.ask(action.id).ok()) << action.id;
        EXPECT_FALSE(action.label.empty());
    }
    for (const char key : {'a', 's', 'k', 'p', 'c'}) {
        EXPECT_EQ(queue.next(), move_of_key(key)) << key;
        EXPECT_NE(keys_help().find(std::string(1, key) + " "), std::string::npos) << key;
    }
    EXPECT_EQ(queue.next(), std::nullopt);
    EXPECT_LE(keys_help().size(), 78U) << "more than a line of a terminal";
}

TEST(DemoMoves, refuse_unknown_keys_and_actions) {
    MoveQueue queue;
    queue.set_stage(two_run);

    for (const char key : {'x', '\x1b', '\0', 'A'}) EXPECT_EQ(move_of_key(key), std::nullopt);
    for (const char* id : {"", "Kill", "kill ", "../kill", "\x1b[2J"}) {
        const auto asked = queue.controls().ask(id);
        ASSERT_FALSE(asked.ok()) << id;
        EXPECT_EQ(asked.error().code, ErrorCode::invalid_argument);
        EXPECT_EQ(asked.error().detail.find('\x1b'), std::string::npos);
    }
    EXPECT_EQ(queue.next(), std::nullopt);
}

TEST(DemoMoves, leave_one_aggregator) {
    const Stage one{.started = 2, .living = 1};
    EXPECT_FALSE(check_move(Move::kill, one).ok());
    EXPECT_FALSE(check_move(Move::stop, one).ok());
    EXPECT_TRUE(check_move(Move::add, one).ok());
    EXPECT_TRUE(check_move(Move::kill, two_run).ok());
}

TEST(DemoMoves, start_no_more_than_the_page_shows) {
    EXPECT_FALSE(check_move(Move::add, {.started = 9, .living = living_max}).ok());
    EXPECT_FALSE(check_move(Move::add, {.started = started_max, .living = 2}).ok());
    EXPECT_FALSE(check_move(Move::sensor, {.started = 2, .living = 2, .is_sensor_on = true}).ok());
}

TEST(DemoMoves, are_bounded_while_nobody_makes_them) {
    MoveQueue queue;
    queue.set_stage(two_run);

    for (std::size_t i = 0; i < MoveQueue::asked_max; ++i) EXPECT_TRUE(queue.ask(Move::pause).ok());
    const auto asked = queue.ask(Move::pause);

    ASSERT_FALSE(asked.ok());
    EXPECT_EQ(asked.error().code, ErrorCode::overloaded);
}

}  // namespace
}  // namespace evenkeel::demo
