#include "demo/moves.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/text.h"

namespace evenkeel::demo {
namespace {

struct MoveText {
    Move move;
    char key;
    const char* id;
    const char* shown;  // beside its key
    const char* label;  // on its button
};

constexpr MoveText texts[] = {
    {Move::add, 'a', "add", "add", "Add an aggregator"},
    {Move::stop, 's', "stop", "stop", "Stop one"},
    {Move::kill, 'k', "kill", "kill -9", "Kill -9 one"},
    {Move::pause, 'p', "pause", "pause, resume", "Pause, resume"},
    {Move::sensor, 'c', "sensor", "CO sensor on", "Switch the carbon-monoxide sensor on"},
};

}  // namespace

std::optional<Move> move_of_key(char key) {
    const auto* const found = std::ranges::find(texts, key, &MoveText::key);
    return found == std::end(texts) ? std::nullopt : std::optional(found->move);
}

std::string keys_help() {
    std::string help;
    for (const MoveText& text : texts) help += fmt::format("{} {}   ", text.key, text.shown);
    return help + "q end";
}

Result<> check_move(Move move, const Stage& stage) {
    const auto refuse = [](std::string why) { return Error{ErrorCode::conflict, std::move(why)}; };
    switch (move) {
        case Move::add:
            if (stage.living >= living_max) {
                return refuse(fmt::format("{} aggregators run; stop one first", stage.living));
            }
            if (stage.started >= started_max) {
                return refuse(fmt::format(
                    "{} aggregators were started in this run, which is the most", stage.started));
            }
            break;
        case Move::stop:
        case Move::kill:
            if (stage.living < 2) return refuse("one aggregator must stay; add another first");
            break;
        case Move::sensor:
            if (stage.is_sensor_on) return refuse("the sensor is on already");
            break;
        case Move::pause: break;
    }
    return {};
}

Result<> MoveQueue::ask(Move move) {
    return state_.with([&](State& state) -> Result<> {
        EK_TRY(check_move(move, state.stage));
        if (state.asked.size() >= asked_max) {
            return Error{ErrorCode::overloaded, "too much was asked for; wait a moment"};
        }
        state.asked.push_back(move);
        return {};
    });
}

std::optional<Move> MoveQueue::next() {
    return state_.with([](State& state) -> std::optional<Move> {
        if (state.asked.empty()) return std::nullopt;
        const Move move = state.asked.front();
        state.asked.pop_front();
        return move;
    });
}

void MoveQueue::set_stage(const Stage& stage) {
    state_.with([&](State& state) { state.stage = stage; });
}

dashboard::DemoControls MoveQueue::controls() {
    dashboard::DemoControls controls;
    for (const MoveText& text : texts) controls.actions.push_back({text.id, text.label});
    controls.ask = [this](const std::string& id) -> Result<> {
        const auto* const found =
            std::ranges::find_if(texts, [&](const MoveText& text) { return id == text.id; });
        if (found != std::end(texts)) return ask(found->move);
        std::string known;
        for (const MoveText& text : texts) known += fmt::format(" {}", text.id);
        return Error{ErrorCode::invalid_argument,
                     fmt::format("the demo has no action '{}'; there are:{}", shown(id), known)};
    };
    return controls;
}

}  // namespace evenkeel::demo
