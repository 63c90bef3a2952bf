#include "host/handler/worker_log.h"

#include <gtest/gtest.h>

#include "base/log.h"
#include "host/handler/invocation_fixture.h"

namespace evenkeel::host {
namespace {

// What is logged meanwhile.
class Logged {
public:
    Logged() {
        set_log(LogLevel::info, [this](const LogLine& line) { text_ = line.message; });
    }
    ~Logged() { set_log(LogLevel::off, {}); }
    const std::string& text() const { return text_; }

private:
    std::string text_;
};

TEST(WorkerLog, keeps_the_lines_of_a_traceback) {
    const Logged logged;
    const GivenEvents given(a_function(Cardinality::many), {{.body = "1"}});
    const std::string traceback = "Traceback:\n  File \"a.py\", line 1\n\tboom()\n";

    log_invocation(given.invocation(), "error", traceback);
    EXPECT_EQ(logged.text(), traceback);
    log_app_line("python", "17", "warning", traceback);
    EXPECT_EQ(logged.text(), traceback);
    log_worker_line("python", Stream::errors, "\tat main (a.js:1)");
    EXPECT_EQ(logged.text(), "\tat main (a.js:1)");
}

TEST(WorkerLog, cuts_a_long_text_between_characters) {
    const Logged logged;

    const std::string kept(8191, 'a');
    std::string line = kept;
    line += "\xc3\xa4 and more";

    log_worker_line("python", Stream::output, line);

    EXPECT_EQ(logged.text(), kept);
}

}  // namespace
}  // namespace evenkeel::host
