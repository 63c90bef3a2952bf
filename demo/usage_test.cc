#include "demo/usage.h"

#include <unistd.h>

#include <gtest/gtest.h>

namespace evenkeel::demo {
namespace {

constexpr std::string_view status =
    "Name:\tpage\nVmPeak:\t  900000 kB\nVmHWM:\t   61440 kB\nVmRSS:\t   20480 kB\n";

TEST(Usage, reads_cpu_time_and_memory_of_a_process) {
    const auto use =
        parse_use("77 (page) S 1 77 77 0 -1 4194304 100 0 0 0 250 30 0 0 20 0 3 0", status);

    ASSERT_TRUE(use);
    EXPECT_EQ(use->cpu_ticks, 280U);
    EXPECT_EQ(use->memory_mb, 20U);
    EXPECT_EQ(use->memory_mb_max, 60U);
}

TEST(Usage, reads_a_program_whose_name_has_brackets) {
    const auto use = parse_use("77 (a) S 1 (b) S 1 77 77 0 -1 4194304 100 0 0 0 5 1 0", status);

    ASSERT_TRUE(use);
    EXPECT_EQ(use->cpu_ticks, 6U);
}

TEST(Usage, ignores_what_is_not_of_a_process) {
    for (const char* stat : {"", "77", "77 (page)", "77 (page) S 1 2 3",
                             "77 (page) S 1 77 77 0 -1 4194304 100 0 0 0 x y 0"}) {
        EXPECT_FALSE(parse_use(stat, status)) << stat;
    }
    // One that has ended has no memory.
    EXPECT_FALSE(parse_use("77 (page) Z 1 77 77 0 -1 4194304 100 0 0 0 250 30 0", "Name:\tpage\n"));
}

TEST(Usage, adds_up_the_processes_of_a_group) {
    Usage usage;
    usage.add("hub", ::getpid());
    usage.add("page", ::getpid());
    usage.add("hub", ::getpid());

    usage.begin();
    const auto groups = usage.groups();

    ASSERT_EQ(groups.size(), 2U);
    EXPECT_EQ(groups[0].name, "hub");
    EXPECT_EQ(groups[0].processes, 2U);
    EXPECT_EQ(groups[0].cpu_seconds, 0);
    EXPECT_GT(groups[0].memory_mb_max, 0U);
    EXPECT_EQ(groups[1].name, "page");
    EXPECT_EQ(Usage::memory_mb(-1), 0U);
}

}  // namespace
}  // namespace evenkeel::demo
