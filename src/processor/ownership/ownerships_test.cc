#include "processor/ownership/ownerships.h"

#include <gtest/gtest.h>

#include "processor/time_fixture.h"

namespace evenkeel::processor {
namespace {

using namespace std::chrono_literals;
using checkpoint::Ownership;

// Trap 11.
TEST(Ownerships, a_listing_older_than_our_own_write_says_nothing_about_it) {
    Ownerships ownerships;
    ownerships.resize(2);
    const Instant asked = start;
    ownerships.begin_write({0});
    ownerships.end_write({0}, start + 10ms);
    ownerships.set({.partition = {0}, .owner = "me", .epoch = {2}, .version = "7"}, start + 10ms);

    ownerships.adopt({{.partition = {0}, .owner = "a", .epoch = {1}, .version = "6"},
                      {.partition = {1}, .owner = "b", .epoch = {1}, .version = "5"}},
                     asked, start + 20ms);

    EXPECT_EQ(ownerships[{0}].owner, "me");
    EXPECT_EQ(ownerships[{1}].owner, "b");
    EXPECT_TRUE(ownerships.is_younger({0}, asked));
    EXPECT_FALSE(ownerships.is_younger({0}, start + 11ms));
}

TEST(Ownerships, nothing_is_believed_while_a_write_is_under_way) {
    Ownerships ownerships;
    ownerships.resize(1);
    ownerships.begin_write({0});

    ownerships.adopt({{.partition = {0}, .owner = "a", .epoch = {1}}}, start, start);

    EXPECT_EQ(ownerships[{0}].owner, "");
    EXPECT_TRUE(ownerships.is_writing({0}));
}

TEST(Ownerships, a_vanished_entry_is_free_and_unknown_partitions_are_ignored) {
    Ownerships ownerships;
    ownerships.resize(1);
    ownerships.adopt({{.partition = {0}, .owner = "a", .epoch = {3}, .version = "1"},
                      {.partition = {9}, .owner = "a", .epoch = {3}}},
                     start, start);
    EXPECT_EQ(ownerships[{0}].owner, "a");

    ownerships.adopt({}, start + 1s, start + 1s);

    EXPECT_EQ(ownerships[{0}].owner, "");
    EXPECT_EQ(ownerships[{0}].version, "");
}

TEST(Ownerships, ages_go_on_between_listings) {
    Ownerships ownerships;
    ownerships.resize(1);
    Ownership entry{.partition = {0}, .owner = "official", .epoch = {0}};
    entry.age = 100s;

    ownerships.adopt({entry}, start, start);

    EXPECT_EQ(ownerships.age({0}, start + 30s), 130s);
}

TEST(Ownerships, are_never_older_than_the_look_that_did_not_show_them) {
    Ownerships ownerships;
    ownerships.resize(1);
    ownerships.adopt({{.partition = {0}, .owner = "sdk", .version = "1", .age = 7s}}, start, start);
    EXPECT_EQ(ownerships.age({0}, start + 1s), 8s) << "at the first look only the store knows";

    // It renews its entry, and then the store's clock steps.
    ownerships.adopt({{.partition = {0}, .owner = "sdk", .version = "2", .age = 600s}}, start + 2s,
                     start + 2s);
    EXPECT_EQ(ownerships.age({0}, start + 3s), 3s);

    ownerships.adopt({{.partition = {0}, .owner = "sdk", .version = "2", .age = 1200s}}, start + 9s,
                     start + 9s);
    EXPECT_EQ(ownerships.age({0}, start + 9s), 9s);
}

}  // namespace
}  // namespace evenkeel::processor
