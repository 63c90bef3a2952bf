// Lines for operators: trace(level, "what happened to what", {{"key", "value"}}).
//
// "log" is the commit log in this project, so these are trace lines. One line an event, on stderr,
// as text or as one JSON object, or to the program's own sink (include/evenkeel/log.h); never a
// secret, never on a path that runs per event.
// Threads: any.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include <evenkeel/log.h>

namespace evenkeel {

using TraceLevel = LogLevel;
using TraceField = LogField;
enum class TraceFormat : unsigned char { text, json };

void trace(TraceLevel level, std::string_view message,
           std::initializer_list<TraceField> fields = {});

// Both take effect for all threads; the default is text, and off: programs turn it on.
void set_trace_level(TraceLevel level);
void set_trace_format(TraceFormat format);

// One line without its time stamp, as trace() writes it; pure, so that it can be tested.
std::string trace_line(TraceFormat format, TraceLevel level, std::string_view message,
                       std::initializer_list<TraceField> fields);

// `text` as JSON wants it, in UTF-8: what is not becomes U+FFFD, controls and quotes are escaped.
std::string json_escaped(std::string_view text);

}  // namespace evenkeel
