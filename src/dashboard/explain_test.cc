#include "dashboard/explain.h"

#include <gtest/gtest.h>

namespace evenkeel::dashboard {
namespace {

GroupView two_members() {
    GroupView view;
    view.members = {{.id = "ada", .state = "active", .host = "", .share = 1},
                    {.id = "bob", .state = "active", .host = "", .share = 1}};
    view.partitions.resize(2);
    view.partitions[0] = {
        .partition = 0, .owner = "ada", .epoch = 3, .owned_since_ms = 1000, .phase = "owned"};
    view.partitions[1] = {.partition = 1, .owner = "bob", .epoch = 1, .phase = "owned"};
    view.moves = {{{0}, {3}, 1000, "bob", "ada", "handed over: ada joined"}};
    return view;
}

TEST(Explain, says_who_whence_and_why_it_stays) {
    EXPECT_EQ(explain(two_members(), 0),
              (std::vector<std::string>{
                  "ada owns partition 0 since 1970-01-01T00:00:01.000Z, with epoch 3.",
                  "It went from bob to ada at 1970-01-01T00:00:01.000Z: handed over: ada joined.",
                  "2 members share 2 partitions: ada 1, bob 1.",
                  "Shares differ by at most one, so it stays."}));
}

TEST(Explain, says_who_takes_over_from_a_silent_owner) {
    GroupView view = two_members();
    view.members[1].state = "silent";
    view.members[1].silent_ms = 4100;
    view.partitions[1].next = "ada";
    EXPECT_EQ(explain(view, 1).back(),
              "Its owner has been silent for 4.1 s. If it stays so, ada takes it.");
    EXPECT_EQ(explain(view, 1)[1], "Its last move is not known.");
}

TEST(Explain, says_why_a_partition_stands_still) {
    GroupView view = two_members();
    view.partitions[0].state = "parked";
    view.partitions[0].cause = "bad json";
    EXPECT_NE(explain(view, 0)[3].find("bad json"), std::string::npos);
    view.partitions[0].owner.reset();
    EXPECT_EQ(explain(view, 0).front(), "Nobody owns partition 0.");
}

TEST(Explain, knows_only_partitions_that_there_are) {
    EXPECT_TRUE(explain(two_members(), 2).empty());
}

}  // namespace
}  // namespace evenkeel::dashboard
