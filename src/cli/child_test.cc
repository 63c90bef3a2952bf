#include "cli/child.h"

#include <algorithm>
#include <string>

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
