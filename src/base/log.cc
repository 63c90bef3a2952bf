#include "base/log.h"

#include <algorithm>
#include <atomic>
#include <cstdio>

#include "base/audit.h"
#include "base/clock.h"
#include "base/utf8.h"

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

// One call for the whole line, so that lines of two threads do not mix.
void write_line(TraceFormat format, const std::string& rest) {
    const std::string time = to_string(SystemClock().wall());
    if (format == TraceFormat::json) {
        std::fprintf(stderr, "{\"time\":\"%s\",%s}\n", time.c_str(), rest.c_str());
    } else {
        std::fprintf(stderr, "%s %s\n", time.c_str(), rest.c_str());
    }
}

// In quotes if it could be taken for more than one value.
std::string audit_value(const std::string& value) {
    constexpr std::string_view plain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:/@$*[]";
    if (value.empty()) return "-";
    if (value.find_first_not_of(plain) == std::string::npos) return value;
    return "\"" + json_escaped(value) + "\"";
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
    while (!text.empty()) {
        const std::size_t size = utf8_character_bytes(text);
        const char c = text.front();
        const std::string_view character = text.substr(0, size);
        text.remove_prefix(std::max<std::size_t>(size, 1));
        if (size != 1) {
            result += size == 0 ? std::string_view("\xef\xbf\xbd") : character;  // U+FFFD
            continue;
        }
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
    write_line(format, trace_line(format, level, message, fields));
}

std::string audit_line(TraceFormat format, const AuditEntry& entry) {
    const std::pair<std::string_view, const std::string*> fields[] = {{"who", &entry.who},
                                                                      {"from", &entry.from},
                                                                      {"did", &entry.did},
                                                                      {"what", &entry.what},
                                                                      {"result", &entry.result}};
    std::string line =
        format == TraceFormat::json ? R"("level":"audit","message":"audit")" : "audit";
    for (const auto& [key, value] : fields) {
        if (format == TraceFormat::json) {
            line += ",\"" + std::string(key) + "\":\"" + json_escaped(*value) + "\"";
        } else {
            line += " " + std::string(key) + "=" + audit_value(*value);
        }
    }
    return line;
}

void audit(const AuditEntry& entry) {
    const TraceFormat format = chosen_format;
    write_line(format, audit_line(format, entry));
}

}  // namespace evenkeel
