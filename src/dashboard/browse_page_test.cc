#include "dashboard/browse_page.h"

#include <gtest/gtest.h>

namespace evenkeel::dashboard {
namespace {

BrowsedEvent event(std::int64_t time, std::uint32_t partition, std::size_t bytes = 1) {
    return {{time, partition, time}, std::string(bytes, 'x')};
}
std::string times(const std::vector<BrowsedEvent>& events) {
    std::string all;
    for (const auto& each : events) all += std::to_string(each.place.enqueued_ms) + " ";
    return all;
}

TEST(BrowsePage, keeps_the_first_events_of_all_partitions) {
    BrowsePage page({.is_backwards = false, .events_max = 3, .bytes_max = 100});
    EXPECT_EQ(times(page.take({event(1, 0), event(3, 0), event(5, 0)})), "");
    EXPECT_FALSE(page.is_full());

    EXPECT_EQ(times(page.take({event(2, 1), event(4, 1)})), "4 5 ");
    EXPECT_EQ(times(page.events()), "1 2 3 ");
    EXPECT_TRUE(page.is_full());
    EXPECT_FALSE(page.may_take({4, 2, 0}) && page.may_take({5, 0, 5}));
}

TEST(BrowsePage, keeps_the_last_events_when_it_goes_backwards) {
    BrowsePage page({.is_backwards = true, .events_max = 2, .bytes_max = 100});
    EXPECT_EQ(times(page.take({event(1, 0), event(4, 0)})), "");
    EXPECT_EQ(times(page.take({event(3, 1)})), "1 ");
    EXPECT_EQ(times(page.events()), "4 3 ");
    EXPECT_TRUE(page.may_take({2, 2, 2}));
    EXPECT_FALSE(page.may_take({0, 2, 0}));
}

TEST(BrowsePage, has_a_largest_size_but_at_least_one_event) {
    BrowsePage page({.is_backwards = false, .events_max = 10, .bytes_max = 100});
    EXPECT_EQ(times(page.take({event(5, 0, 500)})), "");
    EXPECT_EQ(times(page.take({event(1, 1, 60), event(2, 1, 60), event(3, 1, 10)})), "2 3 5 ")
        << "what comes behind an event that does not fit would be out of order";
    EXPECT_EQ(times(page.events()), "1 ");
    EXPECT_EQ(times(page.take({event(3, 2, 1)})), "3 ") << "2 went back before it";
}

}  // namespace
}  // namespace evenkeel::dashboard
