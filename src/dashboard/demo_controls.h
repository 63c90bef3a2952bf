// The buttons of `evenkeel demo`: what an operator may do to its processes. Every other server has
// none.
// Ownership: what `ask` refers to outlives the dashboard. Threads: `ask` runs on the hub's loop.
// Failure: `ask` says why it is not possible; what fails later is the demo's to report.
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
