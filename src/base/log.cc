#include "base/log.h"

#include <atomic>
#include <cstdio>

#include "base/clock.h"

namespace evenkeel {
namespace {

std::atomic<TraceLevel> least_level{TraceLevel::info};
std::atomic<TraceFormat> chosen_format{TraceFormat::text};

std::string_view name_of(TraceLevel level) {
    switch (level) {
        case TraceLevel::debug: return "debug";
        case TraceLevel::info: return "info";
        case TraceLevel::warning: return "warning";
        case TraceLevel::error: return "error";
        case TraceLevel::off: return "off";
    }
    return "?";
}

}  // namespace

void set_trace_level(TraceLevel level) {
    least_level = level;
}

void set_trace_format(TraceFormat format) {
    chosen_format = format;
}

std::string json_escaped(std::string_view text) {
    std::string result;
    result.reserve(text.size());
    for (const char c : text) {
        switch (c) {
            case '"': result += "\\\""; break;
            case '\\': result += "\\\\"; break;
            case '\n': result += "\\n"; break;
            case '\r': result += "\\r"; break;
            case '\t': result += "\\t"; break;
            default:
                if (static_cast<unsigned char>(c) < 0x20) {
                    char escape[8];
                    std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
                    result += escape;
                } else {
                    result += c;
                }
        }
    }
    return result;
}

std::string trace_line(TraceFormat format, TraceLevel level, std::string_view message,
                       std::initializer_list<TraceField> fields) {
    std::string line;
    if (format == TraceFormat::json) {
        line = "\"level\":\"" + std::string(name_of(level)) + "\",\"message\":\"" +
               json_escaped(message) + "\"";
        for (const auto& [key, value] : fields) {
            line += ",\"" + json_escaped(key) + "\":\"" + json_escaped(value) + "\"";
        }
        return line;
    }
    line = std::string(name_of(level)) + ": " + json_escaped(message);
    for (const auto& [key, value] : fields) {
        line += " " + std::string(key) + "=" + json_escaped(value);
    }
    return line;
}

void trace(TraceLevel level, std::string_view message, std::initializer_list<TraceField> fields) {
    if (level < least_level.load(std::memory_order_relaxed)) return;
    const TraceFormat format = chosen_format;
    const std::string time = to_string(SystemClock().wall());
    const std::string rest = trace_line(format, level, message, fields);
    // One call for the whole line, so that lines of two threads do not mix.
    if (format == TraceFormat::json) {
        std::fprintf(stderr, "{\"time\":\"%s\",%s}\n", time.c_str(), rest.c_str());
    } else {
        std::fprintf(stderr, "%s %s\n", time.c_str(), rest.c_str());
    }
}

}  // namespace evenkeel
