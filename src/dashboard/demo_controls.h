// The buttons of `evenkeel demo`: what an operator may do to its processes. Every other server has
// none.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace evenkeel::dashboard {

struct DemoControls {
    struct Action {
        std::string id;     // "kill"
        std::string label;  // of its button
    };
    std::vector<Action> actions = {};
    // Asks for one of them; it is done soon after. Called on the hub's loop, so it must not block.
    // `invalid_argument`: there is no such action; `conflict`: not now, with the reason.
    std::function<Result<>(const std::string& id)> ask = {};
};

}  // namespace evenkeel::dashboard
