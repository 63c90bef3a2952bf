#include "hub/namespace.h"

#include <map>

#include <gtest/gtest.h>

#include "eventhubs/names.h"
#include "hub/hub_fixture.h"

namespace evenkeel::hub {
namespace {

using namespace std::chrono_literals;
using io::sim::OperationKind;

TEST(Namespace, keeps_event_hubs_groups_and_events_when_it_is_opened_again) {
    HubFixture world;
    opened(world);
    ASSERT_TRUE(world.create("Homes", {.partitions = 3, .retention = 5h}).ok());
    ASSERT_TRUE(world.create("rooms").ok());
    ASSERT_TRUE(world.create_group("homes", "audit").ok());
    ASSERT_TRUE(world.append("HOMES", 2, {"a", "b"}).ok());
    const EventHubRecord before = (*world.hub->find("homes"))->record();

    ASSERT_TRUE(world.reopen().ok());

    EXPECT_EQ(world.names(), (std::vector<std::string>{"Homes", "rooms"}));
    EXPECT_EQ((*world.hub->find("homes"))->record(), before);
    EXPECT_EQ(before.retention, 5h);
    EXPECT_EQ(before.groups, (std::vector<std::string>{"audit"}));
    EXPECT_EQ(*world.read("hoMes", 2), (Bodies{"a", "b"}));
}

TEST(Namespace, says_what_to_do_about_an_event_hub_that_does_not_exist) {
    HubFixture world;
    opened(world);
    const std::string expected = "event hub 'homes' does not exist; create it first";

    for (const auto& error :
         {world.hub->find("homes").error(), world.alter("homes", {}).error(),
          world.remove("homes").error(), world.create_group("homes", "g").error(),
          world.remove_group("homes", "g").error()}) {
        EXPECT_EQ(error.code, ErrorCode::not_found);
        EXPECT_EQ(error.detail, expected);
    }
}

TEST(Namespace, refuses_a_name_that_differs_only_in_case) {
    HubFixture world;
    opened(world);
    ASSERT_TRUE(world.create("Homes").ok());

    const auto again = world.create("hOMES");

    EXPECT_EQ(again.error().code, ErrorCode::already_exists);
    EXPECT_EQ(again.error().detail,
              "event hub 'hOMES' exists already; choose another name, or alter it");
}

TEST(Namespace, holds_to_its_limits_and_says_how_to_raise_them) {
    HubFixture world({.event_hubs_max = 2, .partitions_max = 8, .groups_max = 3});
    opened(world);
    ASSERT_TRUE(world.create("a").ok());
    ASSERT_TRUE(world.create("b").ok());
    ASSERT_TRUE(world.create_group("a", "g1").ok());
    ASSERT_TRUE(world.create_group("a", "g2").ok());

    const auto hubs = world.create("c");
    const auto groups = world.create_group("a", "g3");
    const auto more = world.alter("a", {.partitions = 9});
    ASSERT_TRUE(world.remove("b").ok());
    const auto none = world.create("c", {.partitions = 0});
    const auto many = world.create("c", {.partitions = 9});
    const auto negative = world.create("c", {.retention = -1ms});

    EXPECT_EQ(hubs.error().code, ErrorCode::overloaded);
    EXPECT_EQ(hubs.error().detail,
              "there are 2 event hubs already, which is the limit; remove one or raise "
              "event_hubs_max");
    EXPECT_EQ(groups.error().code, ErrorCode::overloaded);
    EXPECT_EQ(groups.error().detail,
              "event hub 'a' has 3 consumer groups, which is the limit; remove one or raise "
              "groups_max");
    for (const auto& refused : {more, none, many, negative}) {
        EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
    }
    EXPECT_EQ(many.error().detail, "9 partitions were asked for; an event hub has 1 to 8");
    EXPECT_TRUE(world.create("c", {.partitions = 8}).ok());
}

TEST(Namespace, refuses_changes_without_touching_the_disk) {
    HubFixture world;
    opened(world);
    ASSERT_TRUE(world.create("a").ok());
    const auto files = world.disk->files();
    const auto operations = world.disk->operations();

    EXPECT_FALSE(world.create("../x").ok());
    EXPECT_FALSE(world.create("A").ok());
    EXPECT_FALSE(world.create("b", {.partitions = 0}).ok());
    EXPECT_FALSE(world.alter("a", {.partitions = 1}).ok());
    EXPECT_FALSE(world.alter("x", {}).ok());
    EXPECT_FALSE(world.remove("x").ok());
    EXPECT_FALSE(world.create_group("a", "a/b").ok());
    EXPECT_FALSE(world.create_group("a", "$default").ok());
    EXPECT_FALSE(world.remove_group("a", "x").ok());
    EXPECT_FALSE(world.remove_group("a", "$Default").ok());

    EXPECT_EQ(world.disk->files(), files);
    EXPECT_EQ(world.disk->operations(), operations);
}

std::string hostile_name(Random& random) {
    static const std::string pieces[] = {"..",
                                         "/",
                                         "\\",
                                         ".",
                                         "a",
                                         "B",
                                         "con",
                                         "nul",
                                         "%2e%2e",
                                         "%00",
                                         "~",
                                         "$",
                                         "é",
                                         "日",
                                         "\xff",
                                         "\n",
                                         "\x1b",
                                         " ",
                                         "-",
                                         "_",
                                         ":",
                                         "*",
                                         "'",
                                         "\"",
                                         "|",
                                         ";",
                                         "lock",
                                         "hub",
                                         "catalogue",
                                         std::string(1, '\0'),
                                         std::string(60, 'x')};
    std::string name;
    const auto count = random.below(7);
    for (std::uint64_t i = 0; i < count; ++i) name += pieces[random.below(std::size(pieces))];
    return name;
}

TEST(Namespace, survives_five_hundred_hostile_names) {
    Random random(test::test_seed());
    HubFixture world;
    opened(world);
    std::map<std::string, std::string> taken;  // by folded name
    for (int i = 0; i < 500; ++i) {
        const std::string name = hostile_name(random);
        const auto files = world.disk->files();
        const auto operations = world.disk->operations();

        const auto created = world.create(name, {.partitions = 1});

        const bool expected =
            eventhubs::check_event_hub_name(name).ok() && !taken.contains(eventhubs::folded(name));
        ASSERT_EQ(created.ok(), expected) << name;
        if (created.ok()) {
            ASSERT_TRUE(world.append(name, 0, {"body of " + name}).ok());
            taken[eventhubs::folded(name)] = "body of " + name;
        } else {
            ASSERT_EQ(world.disk->files(), files) << name;
            ASSERT_EQ(world.disk->operations(), operations) << name;
        }
    }

    ASSERT_TRUE(world.reopen().ok());

    for (const auto& file : world.disk->files()) EXPECT_TRUE(file.starts_with("data/")) << file;
    EXPECT_EQ(world.names().size(), taken.size());
    for (const auto& [name, body] : taken) EXPECT_EQ(*world.read(name, 0), (Bodies{body}));
}

TEST(Namespace, raises_the_number_of_partitions_while_events_flow) {
    HubFixture world;
    opened(world);
    ASSERT_TRUE(world.create("h", {.partitions = 2}).ok());
    const auto reader = world.attach("h", 1);
    auto sent = world.start_append("h", 1, {"before"});

    const auto altered = world.start_alter("h", {.partitions = 5});
    std::vector<Answer<Result<commitlog::Appended>>> during;
    for (int i = 0; i < 20; ++i) {
        during.push_back(world.start_append("h", 1, {std::to_string(i)}));
        world.scheduler.step();
    }

    ASSERT_TRUE(world.wait(altered).ok());
    ASSERT_TRUE(world.wait(sent).ok());
    for (const auto& answer : during) EXPECT_TRUE(world.wait(answer).ok());
    EXPECT_EQ(read_on(**reader)->size(), 21u);
    EXPECT_TRUE(world.append("h", 4, {"new"}).ok());
    ASSERT_TRUE(world.reopen().ok());
    EXPECT_EQ(*world.read("h", 4), (Bodies{"new"}));
}

TEST(Namespace, does_not_lower_the_number_of_partitions) {
    HubFixture world;
    opened(world);
    ASSERT_TRUE(world.create("h", {.partitions = 4}).ok());

    const auto lowered = world.alter("h", {.partitions = 3});

    EXPECT_EQ(lowered.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(lowered.error().detail, "event hub 'h' has 4 partitions; they can only become more");
    EXPECT_TRUE(world.alter("h", {.partitions = 4}).ok());
}

TEST(Namespace, removes_an_event_hub_with_its_files_while_events_flow) {
    HubFixture world;
    opened(world);
    ASSERT_TRUE(world.create("h", {.partitions = 2}).ok());
    std::vector<Answer<Result<commitlog::Appended>>> sent;
    for (int i = 0; i < 5; ++i) sent.push_back(world.start_append("h", 0, {"x"}));

    ASSERT_TRUE(world.remove("h").ok());

    EXPECT_FALSE(world.hub->find("h").ok());
    world.run();
    for (const auto& answer : sent) EXPECT_TRUE(answer->has_value());
    ASSERT_TRUE(world.reopen().ok());
    EXPECT_EQ(world.disk->files().size(), 3u);  // lock, catalogue and its copy
    EXPECT_TRUE(world.names().empty());
}

TEST(Namespace, gives_a_removed_name_to_a_new_event_hub_that_shares_nothing) {
    HubFixture world;
    opened(world);
    ASSERT_TRUE(world.create("h", {.partitions = 1}).ok());
    ASSERT_TRUE(world.append("h", 0, {"old"}).ok());

    const auto removed = world.start_remove("h");
    const auto created = world.start_create("h", {.partitions = 1});

    ASSERT_TRUE(world.wait(removed).ok());
    ASSERT_TRUE(world.wait(created).ok());
    EXPECT_EQ(*world.read("h", 0), Bodies{});
    EXPECT_EQ(world.append("h", 0, {"new"})->first.value, 0);
    world.run();
    ASSERT_TRUE(world.reopen().ok());
    EXPECT_EQ(*world.read("h", 0), (Bodies{"new"}));
}

TEST(Namespace, makes_changes_one_at_a_time_in_the_order_they_were_asked_for) {
    HubFixture world;
    opened(world);
    std::vector<Answer<Result<>>> answers = {
        world.start_create("h", {.partitions = 1}), world.start_create("h"),
        world.start_alter("h", {.partitions = 2}),  world.start_remove("h"),
        world.start_alter("h", {.partitions = 4}),  world.start_create("h", {.partitions = 3}),
        world.start_alter("h", {.partitions = 2}),
    };
    world.run();

    std::vector<bool> good;
    for (const auto& answer : answers) good.push_back((**answer).ok());
    EXPECT_EQ(good, (std::vector<bool>{true, false, true, true, false, true, false}));
    EXPECT_EQ((*world.hub->find("h"))->partition_count(), 3u);
}

TEST(Namespace, takes_a_change_from_within_the_answer_to_the_last) {
    HubFixture world;
    opened(world);
    std::vector<std::string> answers;
    world.hub->create("a", {}, [&](const Result<>& first) {
        answers.emplace_back(first.ok() ? "a" : "-");
        world.hub->create("a", {}, [&](const Result<>& refused) {
            answers.emplace_back(refused.ok() ? "-" : "not a");
            world.hub->create("b", {}, [&](const Result<>& second) {
                answers.emplace_back(second.ok() ? "b" : "-");
            });
        });
    });
    world.hub->create("c", {}, [&](const Result<>&) { answers.emplace_back("c"); });
    world.run();

    EXPECT_EQ(answers, (std::vector<std::string>{"a", "c", "not a", "b"}));
    EXPECT_EQ(world.names(), (std::vector<std::string>{"a", "b", "c"}));
}

TEST(Namespace, finishes_accepted_changes_when_it_is_closed) {
    HubFixture world;
    opened(world);
    const auto create = world.start_create("h", {.partitions = 2});
    const auto group =
        world.start([&](auto done) { world.hub->create_group("h", "audit", std::move(done)); });
    bool closed = false;
    world.hub->close([&] { closed = true; });
    const auto late = world.start_create("late");
    world.run();

    EXPECT_TRUE(closed);
    EXPECT_TRUE((**create).ok() && (**group).ok());
    EXPECT_EQ((**late).error().code, ErrorCode::cancelled);
    EXPECT_EQ(world.hub->find("h").error().code, ErrorCode::cancelled);
    ASSERT_TRUE(world.open().ok());
    EXPECT_EQ((*world.hub->find("h"))->record().groups, (std::vector<std::string>{"audit"}));
}

TEST(Namespace, may_be_closed_from_within_the_answer_to_a_change) {
    HubFixture world;
    opened(world);
    bool closed = false;
    world.hub->create("a", {}, [&](const Result<>&) { world.hub->close([&] { closed = true; }); });
    world.run();

    EXPECT_TRUE(closed);
}

TEST(Namespace, closes_during_a_removal_and_finishes_it_when_opened) {
    HubFixture world;
    opened(world);
    ASSERT_TRUE(world.create("h").ok());
    const auto removed = world.start_remove("h");
    bool closed = false;
    world.hub->close([&] { closed = true; });
    world.run();

    EXPECT_TRUE(closed);
    EXPECT_TRUE((**removed).ok());
    ASSERT_TRUE(world.open().ok());
    EXPECT_TRUE(world.names().empty());
    EXPECT_EQ(world.disk->files().size(), 3u);
}

TEST(Namespace, has_room_for_a_thousand_and_twenty_four_partitions) {
    HubFixture world;
    opened(world);

    ASSERT_TRUE(world.create("h", {.partitions = 1024}).ok());
    ASSERT_TRUE(world.append("h", 1023, {"last"}).ok());
    ASSERT_TRUE(world.reopen().ok());

    EXPECT_EQ((*world.hub->find("h"))->partition_count(), 1024u);
    EXPECT_EQ(*world.read("h", 1023), (Bodies{"last"}));
    EXPECT_EQ(*world.read("h", 0), Bodies{});
}

TEST(Namespace, serves_the_other_partitions_when_the_folder_of_one_is_gone) {
    HubFixture world;
    opened(world);
    ASSERT_TRUE(world.create("h", {.partitions = 3}).ok());
    ASSERT_TRUE(world.append("h", 2, {"x"}).ok());
    const auto incarnation = (*world.hub->find("h"))->record().incarnation;
    world.close();
    ASSERT_TRUE(io::remove_tree(*world.disk, partition_path(test_folder, incarnation, {1})).ok());

    ASSERT_TRUE(world.open().ok());

    EXPECT_EQ(*world.read("h", 2), (Bodies{"x"}));
    EXPECT_TRUE(world.append("h", 0, {"y"}).ok());
    const auto appended = world.append("h", 1, {"z"});
    const auto attached = world.attach("h", 1);
    ASSERT_FALSE(appended.ok() || attached.ok());
    EXPECT_NE(appended.error().detail.find(partition_path(test_folder, incarnation, {1})),
              std::string::npos)
        << appended.error().detail;
    EXPECT_EQ(attached.error().detail, appended.error().detail);
    EXPECT_TRUE(world.alter("h", {.retention = 1h}).ok());
    EXPECT_TRUE(world.alter("h", {.partitions = 4}).ok());
    ASSERT_TRUE(world.remove("h").ok());
    world.run();
    world.close();
    EXPECT_EQ(world.disk->files().size(), 3u);
}

TEST(Namespace, asks_for_a_retention_interval_that_is_one) {
    HubFixture world({.retention_interval = 0ms});

    EXPECT_EQ(world.open().error().code, ErrorCode::invalid_argument);
    EXPECT_TRUE(world.disk->files().empty());
}

}  // namespace
}  // namespace evenkeel::hub
