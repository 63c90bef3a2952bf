// What an operator may do while the homes report, by a key or by a button of the dashboard: add,
// stop, kill or pause aggregators, and switch the new sensor on.
//
//     key, button ──ask──▶ MoveQueue ──next──▶ the demo's own thread, which makes the move
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/guarded.h"
#include "base/result.h"
#include "dashboard/demo_controls.h"

namespace evenkeel::demo {

enum class Move : unsigned char { add, stop, kill, pause, sensor };

// 'a' is "add"; none if no move has that key.
std::optional<Move> move_of_key(char key);
// "a add  s stop  ...", on one line of a terminal.
std::string keys_help();

// What there is when a move is asked for.
struct Stage {
    std::size_t started = 0;  // aggregators, with those that have ended
    std::size_t living = 0;
    bool is_sensor_on = false;
};

inline constexpr std::size_t living_max = 8;
inline constexpr std::size_t started_max = 26;  // they are named by letters

// `conflict`, with the reason, if the move is not possible now.
Result<> check_move(Move move, const Stage& stage);

// Threads: any.
class MoveQueue {
public:
    static constexpr std::size_t asked_max = 16;

    // As check_move(); `overloaded` if too many wait.
    Result<> ask(Move move);
    // The next move that was asked for, if any.
    std::optional<Move> next();
    void set_stage(const Stage& stage);

    // For the dashboard. The queue outlives them.
    dashboard::DemoControls controls();

private:
    struct State {
        Stage stage;
        std::deque<Move> asked;
    };
    Guarded<State> state_;
};

}  // namespace evenkeel::demo
