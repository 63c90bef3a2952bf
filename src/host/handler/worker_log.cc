#include "host/handler/worker_log.h"

#include <fmt/core.h>

#include "base/log.h"
#include "base/text.h"

namespace evenkeel::host {
namespace {

constexpr std::size_t text_max = 8192;

TraceLevel level_of(std::string_view word) {
    const std::string level = lower_case(word);
    if (level.starts_with("err") || level == "critical") return TraceLevel::error;
    if (level.starts_with("warn")) return TraceLevel::warning;
    if (level == "debug" || level == "trace") return TraceLevel::debug;
    return TraceLevel::info;
}

// The log escapes what a terminal would obey, so that line ends can stay: tracebacks have many.
std::string_view cut(std::string_view text) {
    if (text.size() <= text_max) return text;
    std::size_t end = text_max;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
    return text.substr(0, end);
}

}  // namespace

void log_worker_line(std::string_view process, Stream stream, std::string_view line) {
    TraceLevel level = TraceLevel::info;
    if (stream == Stream::errors) {
        level = lower_case(line).find("warn") != std::string::npos ? TraceLevel::warning
                                                                   : TraceLevel::error;
    }
    trace(level, cut(line), {{"from", std::string(process)}});
}

void log_invocation(const Invocation& invocation, std::string_view level, std::string_view line) {
    trace(level_of(level), cut(line),
          {{"function", invocation.function.name}, {"invocation", invocation.id}});
}

void log_app_line(std::string_view process, std::string_view id, std::string_view level,
                  std::string_view line) {
    trace(level_of(level), cut(line),
          {{"from", std::string(process)}, {"invocation", id.empty() ? "-" : std::string(id)}});
}

void log_not_json(const Invocation& invocation, std::uint64_t events) {
    trace(TraceLevel::warning,
          "bodies that are not JSON are passed on as text; this is logged once a minute at most",
          {{"function", invocation.function.name},
           {"partition", fmt::format("{}", invocation.partition)},
           {"events", fmt::format("{}", events)},
           {"invocation", invocation.id}});
}

}  // namespace evenkeel::host
