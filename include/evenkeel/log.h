// What the library tells about its work: lost connections, damaged files, slow stores.
//
//   evenkeel::set_log(evenkeel::LogLevel::info, [](const evenkeel::LogLine& line) {
//       my_logger.write(line.message);
//   });
//
// Without set_log() no line is written. A processor without on_error prints its failures to stderr
// all the same, and run() why it ended. No line holds a key, a token or an event.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace evenkeel {

enum class LogLevel : unsigned char { debug, info, warning, error, off };

std::string_view to_string(LogLevel level);

using LogField = std::pair<std::string_view, std::string>;  // {"hub", "localhost:5672"}

// Valid during the call.
struct LogLine {
    LogLevel level;
    std::string_view message;
    std::span<const LogField> fields;
};

using LogSink = std::function<void(const LogLine&)>;

// From now on lines of this level and above go to `sink`, or to stderr if there is none. It is
// called on any thread, also on several at once and also on one that must not wait: it must not
// block, throw, or call the library. When set_log() returns, calls of the sink before may still be
// under way. Threads: any.
void set_log(LogLevel least, LogSink sink = {});

}  // namespace evenkeel
