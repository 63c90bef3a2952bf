#include "dashboard/scale_json.h"

#include <gtest/gtest.h>

namespace evenkeel::dashboard {
namespace {

GroupView view_of_two() {
    GroupView view;
    view.partitions = {{.partition = 0, .owner = "ada", .phase = "owned"},
                       {.partition = 1, .owner = "ada", .phase = "owned"}};
    view.partitions[0].hub.end.last = 99;
    view.partitions[0].progress = {.position = 49, .lag = 50, .lost = 3, .behind_ms = 1500};
    view.partitions[1].progress = {.behind_ms = 0};
    view.members.resize(2);
    view.members[0].id = "ada";
    view.members[0].state = "active";
    view.members[1].id = "bob";
    view.members[1].state = "leaving";
    return view;
}

TEST(ScaleJson, takes_lag_and_members_of_a_view) {
    const GroupView view = view_of_two();

    const auto load = load_of(view);

    ASSERT_EQ(load.partitions.size(), 2u);
    EXPECT_EQ(load.partitions[0].unread, 50);
    EXPECT_EQ(load.partitions[0].lost, 3);
    EXPECT_EQ(load.partitions[0].position, 49);
    EXPECT_EQ(load.partitions[0].last, 99);
    EXPECT_EQ(load.behind_ms, 1500);
    EXPECT_FALSE(load.is_moving);
    EXPECT_EQ(instances_of(view), 1u) << "one is about to leave";
}

TEST(ScaleJson, sees_that_partitions_move) {
    GroupView view = view_of_two();
    view.partitions[1].phase = "offered";
    EXPECT_TRUE(load_of(view).is_moving);

    view.members.clear();
    EXPECT_FALSE(load_of(view).is_moving) << "nobody runs: they stay where they are";
}

TEST(ScaleJson, has_the_number_and_the_reasons) {
    host::LoadHistory history;
    history.note(load_of(view_of_two()), 1, Instant{});
    const host::ScalePolicy policy{.target = 20};

    JsonWriter json;
    json.object([&] { write_scale(json, decide_scale(history, policy, 1, Instant{}), policy); });

    EXPECT_EQ(json.text(),
              R"({"state":"known","wanted":2,"instances":1,"partitions":2,"unread":50,)"
              R"("unread_seconds":1.5,"lost":3,"never_read":0,"target":20,)"
              R"("why":"50 unread / 20 per instance = 3, at most one for each of 2 partitions; )"
              R"(3 events that retention removed do not count",)"
              R"("why_not_more":"a partition has one reader: of more than 2 instances some would )"
              R"(wait","why_not_less":"1 instance would have more than 20 unread events each"})");
}

TEST(ScaleJson, has_no_number_while_the_lag_is_not_known) {
    host::LoadHistory history;
    history.note_unknown("no \"answer\"");
    const host::ScalePolicy policy;

    JsonWriter json;
    json.object([&] { write_scale(json, decide_scale(history, policy, 1, Instant{}), policy); });

    EXPECT_NE(json.text().find(R"("state":"unknown","wanted":null,"instances":null)"),
              std::string::npos);
    EXPECT_NE(json.text().find(R"(no \"answer\")"), std::string::npos);
}

}  // namespace
}  // namespace evenkeel::dashboard
