#include "processor/ownership/unread.h"

#include <gtest/gtest.h>

#include "processor/time_fixture.h"

namespace evenkeel::processor {
namespace {

class UnreadMember : public testing::Test {
protected:
    // Another member, which can read.
    void see_reader(Instant now) {
        checkpoint::Member other{.id = "b", .incarnation = "1"};
        other.version = "1";
        members_.observe({other}, now);
        unread_.observe(members_, now);
    }

    const Timing timing_{};
    Members members_{"a", timing_};
    Unread unread_{timing_};
};

TEST_F(UnreadMember, gives_all_only_if_another_can_read) {
    unread_.set(start);
    unread_.observe(members_, start);

    EXPECT_TRUE(unread_.is_unable(start));
    EXPECT_FALSE(unread_.gives_all(start + 10 * timing_.unread_max));

    see_reader(start);
    EXPECT_FALSE(unread_.gives_all(start + timing_.unread_max - Duration(1)));
    EXPECT_EQ(unread_.next_change(start), start + timing_.unread_max);
    EXPECT_TRUE(unread_.gives_all(start + timing_.unread_max));
}

TEST_F(UnreadMember, rests_longer_after_each_time_it_gave_up) {
    unread_.set(start);
    unread_.on_given_up(start);
    unread_.on_given_up(start);  // another partition, for the same reason
    unread_.set(std::nullopt);

    const Instant rested = start + timing_.unread_max;
    EXPECT_TRUE(unread_.is_unable(rested - Duration(1)));
    EXPECT_FALSE(unread_.is_unable(rested));

    unread_.set(rested);
    unread_.on_given_up(rested);
    unread_.set(std::nullopt);
    EXPECT_TRUE(unread_.is_unable(rested + 2 * timing_.unread_max - Duration(1)));
    EXPECT_FALSE(unread_.is_unable(rested + 2 * timing_.unread_max));
}

}  // namespace
}  // namespace evenkeel::processor
