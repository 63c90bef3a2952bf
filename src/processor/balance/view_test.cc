#include "processor/balance/view.h"

#include <gtest/gtest.h>

#include "processor/time_fixture.h"

namespace evenkeel::processor {
namespace {

using namespace std::chrono_literals;
using checkpoint::Member;
using checkpoint::Ownership;

class ViewTest : public testing::Test {
protected:
    View make(std::vector<Member> members, std::vector<Ownership> entries) {
        ownerships_.resize(4);
        members_.observe(std::move(members), start);
        ownerships_.adopt(entries, start, start);
        const auto expiry = [](const std::string&) { return Duration(120s); };
        return make_view({.id = "me", .offers = offers_}, members_, ownerships_, expiry, start);
    }
    static std::string name(const View& view, MemberIndex member) {
        return member == nobody ? "" : view.members[static_cast<std::size_t>(member)].id;
    }

    Members members_{"me", standard_timing()};
    Ownerships ownerships_;
    std::map<PartitionId, std::string> offers_;
};

// Trap 6: such entries are free at once, not after an expiry.
TEST_F(ViewTest, an_owner_of_ours_without_an_entry_has_left_and_owns_nothing) {
    const View view = make({{.id = "a", .incarnation = "1", .version = "1"}},
                           {{.partition = {0}, .owner = "a", .epoch = {1}},
                            {.partition = {1}, .owner = "gone", .epoch = {5}},
                            {.partition = {2}, .owner = "", .epoch = {5}}});

    EXPECT_EQ(name(view, view.partitions[0].owner), "a");
    EXPECT_EQ(view.partitions[1].owner, nobody);
    EXPECT_EQ(view.partitions[2].owner, nobody);
    EXPECT_EQ(view.partitions[3].owner, nobody);
}

TEST_F(ViewTest, a_young_entry_without_epoch_is_an_official_member) {
    Ownership young{.partition = {0}, .owner = "official", .epoch = {0}};
    young.age = 119s;
    Ownership old{.partition = {1}, .owner = "stopped", .epoch = {0}};
    old.age = 120s;

    const View view = make({}, {young, old});

    EXPECT_EQ(name(view, view.partitions[0].owner), "official");
    EXPECT_TRUE(view.members.back().is_foreign);
    EXPECT_EQ(view.partitions[1].owner, nobody);
    const std::map<std::string, Duration> both{{"official", 119s}, {"stopped", 120s}};
    EXPECT_EQ(foreign_owners("me", members_, ownerships_, start), both);
}

TEST_F(ViewTest, an_offer_counts_only_from_the_owner) {
    Member a{.id = "a", .incarnation = "1", .version = "1"};
    a.offers = {{{0}, "me"}, {{1}, "me"}};

    const View view = make({a}, {{.partition = {0}, .owner = "a", .epoch = {1}},
                                 {.partition = {1}, .owner = "me", .epoch = {2}}});

    EXPECT_EQ(name(view, view.partitions[0].offered_to), "me");
    EXPECT_EQ(view.partitions[1].offered_to, nobody);
}

}  // namespace
}  // namespace evenkeel::processor
