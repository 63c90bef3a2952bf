// Lines of functions in our own log: always with the function or process, and the execution where
// it is known.
#pragma once

#include <cstdint>
#include <string_view>

#include "host/handler/handler.h"
#include "host/handler/worker_process.h"

namespace evenkeel::host {

// A line that a process printed: an error stream's line that says "warn" is a warning.
void log_worker_line(std::string_view process, Stream stream, std::string_view line);
// A line of one execution.
void log_invocation(const Invocation& invocation, std::string_view level, std::string_view line);
// A line that the app logged, with its level, and the id of its execution if it is known.
void log_app_line(std::string_view process, std::string_view id, std::string_view level,
                  std::string_view line);
// That bodies were not JSON and were passed on as text.
void log_not_json(const Invocation& invocation, std::uint64_t events);

}  // namespace evenkeel::host
