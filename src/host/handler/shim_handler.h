// Python and Node functions, unmodified: a process with our shim and the app's own azure-functions
// or @azure/functions.
// Ownership: owns the process (keeper.h). Threads: any. Failure: `unavailable` while it is away.
#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "host/handler/handler.h"

namespace evenkeel::host {

// Its process loads the app. `kind` is python or node. `app` outlives the handler. `stop` ends a
// start that is under way.
std::unique_ptr<Handler> make_shim_handler(const App& app, Kind kind, std::stop_token stop = {});

// One execution as the shim reads it: a line, with its end. Pure.
struct ShimRequest {
    std::string line;
    std::uint64_t not_json = 0;
};
Result<ShimRequest> shim_request(const Invocation& invocation, const HostOptions& options);
// Its answer. `handler_failed` has the function's error; its stack is in `trace`. Pure.
Result<Outcome> shim_outcome(const std::string& line, std::string& trace);

}  // namespace evenkeel::host
