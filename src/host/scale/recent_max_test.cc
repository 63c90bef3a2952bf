#include "host/scale/recent_max.h"

#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "host/scale/scale_fixture.h"

namespace evenkeel::host {
namespace {

using std::chrono::seconds;

TEST(RecentMax, finds_the_greatest_number_of_a_window) {
    Random random(7);
    RecentMax recent;
    std::vector<std::int64_t> all;
    for (int second = 0; second < 500; ++second) {
        all.push_back(random.between(0, 50));
        recent.note(all.back(), at_second(second));
        for (const int window : {0, 1, 60, 120}) {
            const int first = std::max(0, second - window);
            ASSERT_EQ(recent.within(seconds(window), at_second(second)),
                      *std::max_element(all.begin() + first, all.end()));
        }
    }
}

TEST(RecentMax, knows_nothing_of_a_window_without_numbers) {
    RecentMax recent;
    EXPECT_EQ(recent.within(seconds(60), at_second(0)), std::nullopt);

    recent.note(5, at_second(0));

    EXPECT_EQ(recent.within(seconds(60), at_second(60)), 5);
    EXPECT_EQ(recent.within(seconds(60), at_second(61)), std::nullopt);
}

TEST(RecentMax, says_when_a_number_was_last_exceeded) {
    RecentMax recent;
    recent.note(9, at_second(1));
    recent.note(5, at_second(2));
    recent.note(3, at_second(3));

    EXPECT_EQ(recent.last_above(4), at_second(2));
    EXPECT_EQ(recent.last_above(9), std::nullopt);
}

TEST(RecentMax, stays_bounded_and_never_forgets_too_early) {
    RecentMax recent;
    for (int i = 0; i < 5000; ++i) {
        recent.note(100'000 - i, Instant{} + std::chrono::milliseconds(i));
    }

    EXPECT_EQ(recent.within(seconds(60), at_second(5)), 100'000);
}

}  // namespace
}  // namespace evenkeel::host
