// Functions behind a URL that takes CloudEvents: `"evenkeel": {"url": "http://..."}` in
// function.json. The receiver is not ours: it is neither started nor ended. It may still
// run executions that were given up by end(); their events come again.
// Threads: any. Failure: `unavailable` while the receiver is away or asks us to wait.
#pragma once

#include <memory>

#include "host/app.h"
#include "host/handler/handler.h"

namespace evenkeel::host {

// `app` outlives it. begin() is `unsupported` if libcurl cannot be loaded.
std::unique_ptr<Handler> make_cloud_handler(const App& app);

}  // namespace evenkeel::host
