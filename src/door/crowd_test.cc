#include "door/crowd.h"

#include <gtest/gtest.h>

namespace evenkeel::door {
namespace {

using namespace std::chrono_literals;
using Verdict = Crowd::Verdict;

constexpr Instant beginning{};

TEST(Crowd, keeps_a_share_for_those_who_logged_in) {
    Crowd crowd({.connections_max = 4});
    EXPECT_EQ(crowd.admit(1, "10.0.0.1", beginning).verdict, Verdict::welcome);
    EXPECT_EQ(crowd.admit(2, "10.0.0.1", beginning).verdict, Verdict::welcome);
    EXPECT_EQ(crowd.admit(3, "10.0.0.1", beginning).verdict, Verdict::too_many_strangers);

    crowd.log_in(1);
    EXPECT_EQ(crowd.admit(4, "10.0.0.1", beginning).verdict, Verdict::welcome);
    EXPECT_EQ(crowd.stranger_count(), 2u);
    crowd.log_in(2);
    crowd.log_in(4);
    EXPECT_EQ(crowd.admit(5, "10.0.0.1", beginning).verdict, Verdict::welcome);
    crowd.log_in(5);
    EXPECT_EQ(crowd.admit(6, "10.0.0.2", beginning + 1h).verdict, Verdict::full);
    EXPECT_EQ(crowd.size(), 4u);
    crowd.leave(6);  // was never counted
    EXPECT_EQ(crowd.size(), 4u);
}

TEST(Crowd, displaces_the_oldest_stranger_of_the_largest_crowd) {
    Crowd crowd({.connections_max = 8});
    crowd.admit(1, "10.0.0.9", beginning);
    crowd.admit(2, "10.0.0.1", beginning);
    crowd.admit(3, "10.0.0.1", beginning);
    crowd.admit(4, "10.0.0.1", beginning);

    const auto other = crowd.admit(5, "10.0.0.9", beginning);
    EXPECT_EQ(other.verdict, Verdict::welcome);
    EXPECT_EQ(other.displaced, 2u);
    EXPECT_EQ(crowd.admit(6, "10.0.0.2", beginning).displaced, 3u);
    EXPECT_EQ(crowd.stranger_count(), 4u);
}

TEST(Crowd, leaves_strangers_of_the_same_address_time_to_log_in) {
    Crowd crowd({.connections_max = 2});
    crowd.admit(1, "127.0.0.1", beginning);

    EXPECT_EQ(crowd.admit(2, "127.0.0.1", beginning + 1999ms).verdict, Verdict::too_many_strangers);
    EXPECT_EQ(crowd.admit(3, "127.0.0.1", beginning + 2s).displaced, 1u);
}

TEST(Crowd, takes_a_client_whose_tokens_ended_for_a_stranger_again) {
    Crowd crowd({.connections_max = 2});
    crowd.admit(1, "10.0.0.1", beginning);
    crowd.log_in(1);
    crowd.log_out(1, beginning + 1min);

    EXPECT_EQ(crowd.admit(2, "10.0.0.1", beginning + 1min).verdict, Verdict::too_many_strangers);
    EXPECT_EQ(crowd.admit(3, "10.0.0.1", beginning + 1min + 2s).displaced, 1u);
}

TEST(Crowd, bounds_those_of_one_address_but_not_of_this_host) {
    Crowd crowd({.connections_max = 100, .unauthenticated_max = 100, .per_address_max = 2});
    EXPECT_EQ(crowd.admit(1, "2001:db8::1", beginning).verdict, Verdict::welcome);
    EXPECT_EQ(crowd.admit(2, "2001:db8::2", beginning).verdict, Verdict::welcome);
    EXPECT_EQ(crowd.admit(3, "2001:db8::ffff:1:2", beginning).verdict,
              Verdict::too_many_of_address);
    EXPECT_EQ(crowd.admit(4, "2001:db8:0:1::1", beginning).verdict, Verdict::welcome);
    crowd.log_in(1);
    EXPECT_EQ(crowd.admit(5, "2001:db8::3", beginning).verdict, Verdict::too_many_of_address);
    crowd.leave(1);
    EXPECT_EQ(crowd.admit(6, "2001:db8::3", beginning).verdict, Verdict::welcome);
    for (Crowd::Id id = 10; id < 20; ++id) {
        EXPECT_EQ(crowd.admit(id, "127.0.0.1", beginning).verdict, Verdict::welcome);
    }
}

}  // namespace
}  // namespace evenkeel::door
