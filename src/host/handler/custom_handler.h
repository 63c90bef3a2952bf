// Functions behind a custom handler: one process of the user's that serves HTTP, as Azure Functions
// starts and calls it. docs/functions.md has its environment; custom_wire.h what is said.
// Ownership: owns the process (keeper.h). Threads: any. Failure: `unavailable` while it is away.
#pragma once

#include <memory>

#include "base/result.h"
#include "host/handler/handler.h"

namespace evenkeel::host {

// Starts the process and waits until it answers. `app` outlives the handler. `unavailable` says why
// it does not.
Result<std::unique_ptr<Handler>> start_custom_handler(const App& app);

}  // namespace evenkeel::host
