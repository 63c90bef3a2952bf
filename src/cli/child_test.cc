#include "cli/child.h"

#include <algorithm>
#include <string>

#include <unistd.h>

#include <gtest/gtest.h>

namespace evenkeel::cli {
namespace {

Child shell(const std::string& script) {
    return *Child::start({"-c", script}, "/bin/sh");
}

TEST(Child, gives_lines_one_by_one) {
    Child child = shell("echo one; echo; echo two; printf three");

    EXPECT_EQ(child.next_line(), "one");
    EXPECT_EQ(child.next_line(), "");
    EXPECT_EQ(child.next_line(), "two");
    EXPECT_EQ(child.next_line(), std::nullopt);
    EXPECT_EQ(child.rest(), "three");
    EXPECT_EQ(child.output(), -1);
}

// Both lines are there before the first one is read.
TEST(Words, that_come_together_are_both_seen) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    ASSERT_EQ(write(ends[1], "begin\nend\n", 10), 10);
    const int usual = dup(STDIN_FILENO);
    dup2(ends[0], STDIN_FILENO);

    const auto first = next_word();
    const bool has_second = has_word(std::chrono::milliseconds(0));
    const auto second = has_second ? next_word() : std::nullopt;

    dup2(usual, STDIN_FILENO);
    for (const int descriptor : {usual, ends[0], ends[1]}) close(descriptor);
    EXPECT_EQ(first, "begin");
    EXPECT_EQ(second, "end");
}

TEST(Child, gives_a_long_line_in_pieces) {
    constexpr std::size_t bytes_max = 100'000;
    Child child = shell("head -c 3000000 /dev/zero; echo; echo end");
    std::size_t zeros = 0;
    std::size_t longest = 0;
    std::string last;

    while (child.fill()) {
        while (const auto line = child.line(bytes_max)) {
            longest = std::max(longest, line->size());
            if (line->find('\0') != std::string_view::npos) zeros += line->size();
            last = *line;
        }
    }

    EXPECT_EQ(zeros, 3'000'000u);
    EXPECT_LT(longest, 2 * bytes_max);
    EXPECT_EQ(last, "end");
}

}  // namespace
}  // namespace evenkeel::cli
