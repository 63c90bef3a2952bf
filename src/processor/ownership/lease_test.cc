#include "processor/ownership/lease.h"

#include <gtest/gtest.h>

#include "processor/time_fixture.h"

namespace evenkeel::processor {
namespace {

using namespace std::chrono_literals;
using Change = Lease::Change;

TEST(Lease, counts_from_the_sending_of_a_heartbeat) {
    Lease lease(5s);

    EXPECT_EQ(lease.renewed(start, start + 1s), Change::gained);

    EXPECT_TRUE(lease.is_valid(start + 4999ms));
    EXPECT_FALSE(lease.is_valid(start + 5s));
    EXPECT_EQ(lease.check(start + 4s), Change::none);
    EXPECT_EQ(lease.check(start + 5s), Change::lapsed);
    EXPECT_EQ(lease.check(start + 6s), Change::none);
}

// Trap 1: the time it was sent counts.
TEST(Lease, an_answer_that_comes_late_revives_nothing) {
    Lease lease(5s);
    EXPECT_EQ(lease.renewed(start, start), Change::gained);
    EXPECT_EQ(lease.check(start + 8s), Change::lapsed);

    EXPECT_EQ(lease.renewed(start + 2s, start + 8s), Change::none);

    EXPECT_FALSE(lease.is_valid(start + 8s));
}

TEST(Lease, a_term_lasts_as_long_as_the_lease_is_renewed_without_a_break) {
    Lease lease(5s);
    lease.renewed(start, start);
    const LeaseTerm term = lease.term();
    EXPECT_FALSE(term.is_over(start + 4s));
    EXPECT_TRUE(term.is_over(start + 5s));

    lease.renewed(start + 3s, start + 4s);
    EXPECT_FALSE(term.is_over(start + 7s)) << "it was renewed";

    EXPECT_EQ(lease.check(start + 8s), Change::lapsed);
    lease.renewed(start + 9s, start + 9s);
    EXPECT_TRUE(term.is_over(start + 10s)) << "another may have come in between";
    EXPECT_FALSE(lease.term().is_over(start + 10s));
    EXPECT_FALSE(LeaseTerm().is_over(start + 10s));
}

// Trap 2: what was asked for before the lapse does not count.
TEST(Lease, does_not_cover_what_was_asked_for_before_it_broke) {
    Lease lease(5s);
    EXPECT_EQ(lease.renewed(start, start), Change::gained);
    EXPECT_TRUE(lease.covers(start + 1s, start + 2s));
    EXPECT_EQ(lease.check(start + 5s), Change::lapsed);

    EXPECT_EQ(lease.renewed(start + 6s, start + 7s), Change::gained);

    EXPECT_FALSE(lease.covers(start + 4s, start + 8s));
    EXPECT_FALSE(lease.covers(start + 6s, start + 8s));
    EXPECT_TRUE(lease.covers(start + 7s, start + 8s));
}

TEST(Lease, an_older_answer_does_not_shorten_it) {
    Lease lease(5s);
    EXPECT_EQ(lease.renewed(start + 2s, start + 3s), Change::gained);

    EXPECT_EQ(lease.renewed(start, start + 4s), Change::none);

    EXPECT_EQ(lease.until(), start + 7s);
}

}  // namespace
}  // namespace evenkeel::processor
