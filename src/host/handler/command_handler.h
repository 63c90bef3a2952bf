// Functions that are shell commands: the protocol of `evenkeel process --exec`. A command runs in
// the folder of its function, with the settings of the app in its environment.
// Ownership: owns a runner for each function and partition, until release(). Threads: any.
// Failure: as command_runner.h.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "host/handler/handler.h"

namespace evenkeel::host {

// An event as one line of JSON, without its end.
using EventLine =
    std::function<std::string(const std::string& event_hub, std::uint32_t partition, const Event&)>;

// `app` outlives the handler.
std::unique_ptr<Handler> make_command_handler(const App& app, EventLine event_line,
                                              Duration drain_max);

}  // namespace evenkeel::host
