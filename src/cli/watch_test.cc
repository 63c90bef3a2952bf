#include "cli/watch.h"

#include <gtest/gtest.h>

namespace evenkeel::cli {
namespace {

TEST(Watch, redraws_from_the_first_line_and_clears_the_rest) {
    EXPECT_EQ(screen_of("head", "a\nb\n", 24), "\x1b[Hhead\x1b[K\r\na\x1b[K\r\nb\x1b[K\x1b[J");
    EXPECT_EQ(screen_of("head", "", 24), "\x1b[Hhead\x1b[K\x1b[J");
}

TEST(Watch, shows_no_more_lines_than_the_terminal_has) {
    const std::string screen = screen_of("head", "1\n2\n3\n4\n5\n", 4);

    EXPECT_EQ(screen, "\x1b[Hhead\x1b[K\r\n1\x1b[K\r\n2\x1b[K\r\n... 3 more lines\x1b[K\x1b[J");
    EXPECT_EQ(screen_of("h", "1\n2\n3", 4), "\x1b[Hh\x1b[K\r\n1\x1b[K\r\n2\x1b[K\r\n3\x1b[K\x1b[J");
    EXPECT_NE(screen_of("h", "1\n2\n3\n", 0).find("more lines"), std::string::npos)
        << "a terminal that says that it has no rows";
}

TEST(Watch, puts_a_json_document_on_one_line) {
    EXPECT_EQ(on_one_line("[\n  {\n    \"a\": \"b\\nc\"\n  }\n]\n"), "[{\"a\":\"b\\nc\"}]");
    EXPECT_EQ(on_one_line("no JSON"), "no JSON");
}

TEST(Watch, refuses_an_interval_that_is_none) {
    int calls = 0;
    const auto show = [&] {
        ++calls;
        return ExitCode::done;
    };

    for (const auto* const interval : {"0s", "soon", "5", "-1s", "50ms", "2"}) {
        EXPECT_EQ(watched({interval}, false, show), ExitCode::wrong_usage) << interval;
    }
    EXPECT_EQ(calls, 0);
    EXPECT_EQ(watched({}, false, show), ExitCode::done);
    EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace evenkeel::cli
