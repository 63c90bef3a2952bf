#include "base/log.h"

#include <gtest/gtest.h>

namespace evenkeel {
namespace {

// Sets the trace for one test; the tests' own setting is text and off.
class Traced {
public:
    Traced(TraceLevel level, TraceFormat format) {
        set_trace_level(level);
        set_trace_format(format);
        testing::internal::CaptureStderr();
    }
    ~Traced() {
        set_trace_level(TraceLevel::off);
        set_trace_format(TraceFormat::text);
    }
    std::string lines() { return testing::internal::GetCapturedStderr(); }
};

TEST(TraceLine, as_text_has_level_message_and_fields) {
    EXPECT_EQ(trace_line(TraceFormat::text, TraceLevel::warning, "disk nearly full",
                         {{"path", "/data"}, {"free_bytes", "12"}}),
              "warning: disk nearly full path=/data free_bytes=12");
}

TEST(TraceLine, as_json_has_one_member_for_each) {
    EXPECT_EQ(
        trace_line(TraceFormat::json, TraceLevel::error, "cannot \"open\"", {{"path", "C:\\x"}}),
        R"("level":"error","message":"cannot \"open\"","path":"C:\\x")");
}

TEST(TraceLine, stays_one_line_whatever_it_tells_of) {
    for (const auto format : {TraceFormat::text, TraceFormat::json}) {
        const auto line = trace_line(format, TraceLevel::info, "a\nb", {{"key", "c\r\nd"}});
        EXPECT_EQ(line.find_first_of("\r\n"), std::string::npos) << line;
    }
}

TEST(JsonEscaped, escapes_what_json_forbids_and_nothing_else) {
    EXPECT_EQ(json_escaped("plain ünïcode /"), "plain ünïcode /");
    EXPECT_EQ(json_escaped("\"\\\n\r\t"), "\\\"\\\\\\n\\r\\t");
    EXPECT_EQ(json_escaped(std::string("\0\x1f\x7f", 3)), "\\u0000\\u001f\x7f");
}

TEST(Trace, writes_lines_of_its_level_and_above) {
    Traced traced(TraceLevel::warning, TraceFormat::text);

    trace(TraceLevel::info, "quiet");
    trace(TraceLevel::warning, "loud", {{"key", "value"}});

    const std::string lines = traced.lines();
    EXPECT_EQ(lines.find("quiet"), std::string::npos);
    EXPECT_NE(lines.find("Z warning: loud key=value\n"), std::string::npos) << lines;
}

TEST(Trace, writes_one_json_object_a_line) {
    Traced traced(TraceLevel::debug, TraceFormat::json);

    trace(TraceLevel::debug, "started");

    const std::string lines = traced.lines();
    EXPECT_EQ(lines.find("{\"time\":\""), 0u) << lines;
    EXPECT_NE(lines.find("Z\",\"level\":\"debug\",\"message\":\"started\"}\n"), std::string::npos)
        << lines;
}

TEST(Trace, is_silent_when_off) {
    Traced traced(TraceLevel::off, TraceFormat::text);

    trace(TraceLevel::error, "unheard");

    EXPECT_EQ(traced.lines(), "");
}

}  // namespace
}  // namespace evenkeel
