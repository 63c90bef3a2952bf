#include "base/log.h"

#include <gtest/gtest.h>

#include "base/audit.h"
#include "base/trace_fixture.h"

namespace evenkeel {
namespace {

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

TEST(JsonEscaped, is_valid_utf8_whatever_the_text_is) {
    EXPECT_EQ(json_escaped("a\xff\xc3(\xed\xa0\x80"), "a\ufffd\ufffd(\ufffd\ufffd\ufffd");
}

TEST(JsonEscaped, escapes_quotes_and_controls_and_nothing_else) {
    EXPECT_EQ(json_escaped("plain ünïcode /"), "plain ünïcode /");
    EXPECT_EQ(json_escaped("ab\"cd\xff"
                           "ef\n"),
              "ab\\\"cd\ufffdef\\n");
    EXPECT_EQ(json_escaped("\"\\\n\r\t"), "\\\"\\\\\\n\\r\\t");
    EXPECT_EQ(json_escaped(std::string("\0\x1f\x7f", 3)), "\\u0000\\u001f\\u007f");
}

TEST(Trace, writes_lines_of_its_level_and_above) {
    CapturedTrace traced(TraceLevel::warning, TraceFormat::text);

    trace(TraceLevel::info, "quiet");
    trace(TraceLevel::warning, "loud", {{"key", "value"}});

    const std::string lines = traced.take();
    EXPECT_EQ(lines.find("quiet"), std::string::npos);
    EXPECT_NE(lines.find("Z warning: loud key=value\n"), std::string::npos) << lines;
}

TEST(Trace, writes_one_json_object_a_line) {
    CapturedTrace traced(TraceLevel::debug, TraceFormat::json);

    trace(TraceLevel::debug, "started");

    const std::string lines = traced.take();
    EXPECT_EQ(lines.find("{\"time\":\""), 0u) << lines;
    EXPECT_NE(lines.find("Z\",\"level\":\"debug\",\"message\":\"started\"}\n"), std::string::npos)
        << lines;
}

TEST(Trace, is_silent_when_off) {
    CapturedTrace traced(TraceLevel::off, TraceFormat::text);

    trace(TraceLevel::error, "unheard");

    EXPECT_EQ(traced.take(), "");
}

TEST(Log, goes_to_the_sink_of_the_program_and_nowhere_else) {
    CapturedTrace traced(TraceLevel::off, TraceFormat::text);
    std::vector<std::string> heard;
    set_log(LogLevel::info, [&](const LogLine& line) {
        heard.push_back(std::string(to_string(line.level)) + " " + std::string(line.message));
        for (const auto& [name, value] : line.fields) {
            heard.push_back(std::string(name) + "=" + value);
        }
    });

    trace(TraceLevel::debug, "quiet");
    trace(TraceLevel::warning, "loud\n", {{"key", "value"}});
    set_log(LogLevel::off);
    trace(TraceLevel::error, "too late");

    EXPECT_EQ(heard, (std::vector<std::string>{"warning loud\n", "key=value"}));
    EXPECT_EQ(traced.take(), "");
}

TEST(Log, goes_to_stderr_if_there_is_no_sink) {
    CapturedTrace traced(TraceLevel::off, TraceFormat::text);
    set_log(LogLevel::error);

    trace(TraceLevel::warning, "quiet");
    trace(TraceLevel::error, "loud");

    EXPECT_NE(traced.take().find("Z error: loud\n"), std::string::npos);
}

TEST(Audit, has_one_form_that_no_name_can_forge) {
    AuditEntry entry{"key:root@homes", "[::1]:5672", "create-hub", "homes", "ok"};
    EXPECT_EQ(audit_line(TraceFormat::text, entry),
              "audit who=key:root@homes from=[::1]:5672 did=create-hub what=homes result=ok");
    EXPECT_EQ(audit_line(TraceFormat::json, entry),
              R"("level":"audit","message":"audit","who":"key:root@homes","from":"[::1]:5672",)"
              R"("did":"create-hub","what":"homes","result":"ok")");

    entry.what = "a result=ok \"b\"\n";
    entry.who = "";
    EXPECT_EQ(audit_line(TraceFormat::text, entry),
              R"(audit who=- from=[::1]:5672 did=create-hub what="a result=ok \"b\"\n" result=ok)");
}

TEST(Audit, is_written_at_every_level) {
    CapturedTrace traced(TraceLevel::off, TraceFormat::text);

    audit({"key:root", "here", "purge-hub", "homes", "ok"});

    EXPECT_NE(traced.take().find("audit who=key:root from=here"), std::string::npos);
}

}  // namespace
}  // namespace evenkeel
