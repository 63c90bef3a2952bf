// tidy: no test: it only writes trace lines
#include "host/handler/worker_log.h"

#include <fmt/core.h>

#include "base/log.h"
#include "base/text.h"

namespace evenkeel::host {
namespace {

constexpr std::size_t line_max = 8192;

TraceLevel level_of(std::string_view word) {
    const std::string level = lower_case(word);
    if (level.starts_with("err") || level == "critical") return TraceLevel::error;
    if (level.starts_with("warn")) return TraceLevel::warning;
    if (level == "debug" || level == "trace") return TraceLevel::debug;
    return TraceLevel::info;
}

}  // namespace

void log_worker_line(std::string_view process, Stream stream, std::string_view line) {
    TraceLevel level = TraceLevel::info;
    if (stream == Stream::errors) {
        level = lower_case(line).find("warn") != std::string::npos ? TraceLevel::warning
                                                                   : TraceLevel::error;
    }
    trace(level, printable(line, line_max), {{"from", std::string(process)}});
}

void log_invocation(const Invocation& invocation, std::string_view level, std::string_view line) {
    trace(level_of(level), printable(line, line_max),
          {{"function", invocation.function.name}, {"invocation", invocation.id}});
}

void log_app_line(std::string_view process, std::string_view id, std::string_view level,
                  std::string_view line) {
    trace(level_of(level), printable(line, line_max),
          {{"from", std::string(process)}, {"invocation", id.empty() ? "-" : std::string(id)}});
}

void log_not_json(const Invocation& invocation, std::uint64_t events) {
    if (events == 0) return;
    trace(TraceLevel::warning, "bodies that are not JSON are passed on as text",
          {{"function", invocation.function.name},
           {"partition", fmt::format("{}", invocation.partition)},
           {"events", fmt::format("{}", events)},
           {"invocation", invocation.id}});
}

}  // namespace evenkeel::host
