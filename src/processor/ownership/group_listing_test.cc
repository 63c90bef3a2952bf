#include "processor/ownership/group_listing.h"

#include <optional>

#include <gtest/gtest.h>

#include "processor/ownership/step_fixture.h"

namespace evenkeel::processor {
namespace {

using What = GroupListing::What;

class GroupListingTest : public testing::Test {
protected:
    GroupListingTest() {
        checkpoint::Table table;
        EXPECT_TRUE(table.write_member({.id = "b", .incarnation = "1"}, {rig_.now(), {}}).ok());
        EXPECT_TRUE(
            table.write_ownership({.partition = {3}, .owner = "b", .epoch = {1}}, {rig_.now(), {}})
                .ok());
        rig_.server.restore(rig_.group, table);
    }
    GroupListing::Answer ask(What what) {
        std::optional<GroupListing::Answer> answer;
        listing_.ask(what, [&](GroupListing::Answer given) { answer = std::move(given); });
        EXPECT_TRUE(rig_.run_until([&] { return answer.has_value(); }));
        return *answer;
    }

    StepRig rig_;
    GroupListing listing_{rig_.loop, rig_.store, rig_.steps};
};

TEST_F(GroupListingTest, answers_once_with_members_and_ownerships) {
    const Instant asked = rig_.now();

    const auto answer = ask(What::both);

    EXPECT_EQ(answer.asked, asked);
    ASSERT_TRUE(answer.members && answer.ownerships);
    EXPECT_EQ(answer.members->at(0).id, "b");
    EXPECT_EQ(answer.ownerships->at(0).partition.value, 3u);
    EXPECT_FALSE(answer.error);
    EXPECT_EQ(listing_.requests(), 2u);
}

TEST_F(GroupListingTest, asks_only_for_what_is_wanted) {
    const auto members = ask(What::members);
    const auto ownerships = ask(What::ownerships);

    EXPECT_TRUE(members.members && !members.ownerships);
    EXPECT_TRUE(!ownerships.members && ownerships.ownerships);
    EXPECT_EQ(listing_.requests(), 2u);
}

TEST_F(GroupListingTest, wants_ownerships_until_they_are_listed) {
    listing_.want_ownerships();
    ask(What::members);
    EXPECT_TRUE(listing_.wants_ownerships());

    rig_.faults.outage = true;
    const auto failed = ask(What::both);
    EXPECT_TRUE(failed.error);
    EXPECT_FALSE(failed.ownerships);
    EXPECT_TRUE(listing_.wants_ownerships()) << "that look showed none";

    rig_.faults.outage = false;
    ask(What::both);
    EXPECT_FALSE(listing_.wants_ownerships());
}

TEST_F(GroupListingTest, gives_no_answer_once_the_coordinator_has_ended) {
    bool is_answered = false;
    listing_.ask(What::both, [&](const GroupListing::Answer&) { is_answered = true; });

    rig_.steps.end();
    rig_.run_for(std::chrono::seconds(10));

    EXPECT_FALSE(is_answered);
}

}  // namespace
}  // namespace evenkeel::processor
