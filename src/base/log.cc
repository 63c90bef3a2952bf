#include "base/log.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>

#include "base/audit.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/text.h"
#include "base/utf8.h"

namespace evenkeel {
namespace {

using SharedSink = std::shared_ptr<const LogSink>;

std::atomic<TraceLevel> least_level{TraceLevel::off};
std::atomic<TraceFormat> chosen_format{TraceFormat::text};

// What set_log() was given; null: stderr. The lock is innermost: it is held to copy the pointer.
class ChosenSink {
public:
    void set(SharedSink sink) {
        const Lock lock(mutex_);
        sink_.swap(sink);
    }
    SharedSink get() {
        const Lock lock(mutex_);
        return sink_;
    }

private:
    Mutex mutex_;
    SharedSink sink_ EK_GUARDED_BY(mutex_);
};

ChosenSink& chosen_sink() {
    static ChosenSink& sink = *new ChosenSink;  // never destroyed: threads may outlive main()
    return sink;
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

std::string_view to_string(LogLevel level) {
    switch (level) {
        case LogLevel::debug: return "debug";
        case LogLevel::info: return "info";
        case LogLevel::warning: return "warning";
        case LogLevel::error: return "error";
        case LogLevel::off: return "off";
    }
    return "?";
}

void set_log(LogLevel least, LogSink sink) {
    SharedSink shared;
    if (sink) shared = std::make_shared<const LogSink>(std::move(sink));
    chosen_sink().set(std::move(shared));
    least_level = least;
}

void set_trace_level(TraceLevel level) {
    least_level = level;
}

void set_trace_format(TraceFormat format) {
    chosen_format = format;
}

std::string json_escaped(std::string_view text) {
    std::string result;
    result.reserve(text.size());
    const auto is_plain = [](char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; };
    while (!text.empty()) {
        // Most text is plain, and taken as a whole.
        const auto* const end = std::find_if_not(text.begin(), text.end(), is_plain);
        const auto plain = static_cast<std::size_t>(end - text.begin());
        result.append(text.substr(0, plain));
        text.remove_prefix(plain);
        if (text.empty()) break;
        const std::size_t size = utf8_character_bytes(text);
        const char c = text.front();
        const std::string_view character = text.substr(0, size);
        text.remove_prefix(std::max<std::size_t>(size, 1));
        if (size != 1) {
            result += size == 0 ? std::string("\xef\xbf\xbd") : json_without_controls(character);
            continue;
        }
        switch (c) {
            case '"': result += "\\\""; break;
            case '\\': result += "\\\\"; break;
            case '\n': result += "\\n"; break;
            case '\r': result += "\\r"; break;
            case '\t': result += "\\t"; break;
            default:
                if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
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
        line = "\"level\":\"" + std::string(to_string(level)) + "\",\"message\":\"" +
               json_escaped(message) + "\"";
        for (const auto& [key, value] : fields) {
            line += ",\"" + json_escaped(key) + "\":\"" + json_escaped(value) + "\"";
        }
        return line;
    }
    line = std::string(to_string(level)) + ": " + json_escaped(message);
    for (const auto& [key, value] : fields) {
        line += " " + std::string(key) + "=" + json_escaped(value);
    }
    return line;
}

void trace(TraceLevel level, std::string_view message, std::initializer_list<TraceField> fields) {
    if (level < least_level.load(std::memory_order_relaxed)) return;
    if (const SharedSink sink = chosen_sink().get()) return (*sink)({level, message, fields});
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
