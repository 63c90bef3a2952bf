// Functions behind a custom handler: one process of the user's that serves HTTP, as Azure Functions
// starts and calls it. docs/functions.md has its environment; custom_wire.h what is said.
// Ownership: owns the process (keeper.h). Threads: any. Failure: `unavailable` while it is away.
#pragma once

#include <memory>
#include <stop_token>

#include "host/handler/handler.h"

namespace evenkeel::host {

// Its begin() starts the process and waits until it answers. `app` outlives the handler. `stop`
// ends a start that is under way.
std::unique_ptr<Handler> make_custom_handler(const App& app, std::stop_token stop = {});

}  // namespace evenkeel::host
