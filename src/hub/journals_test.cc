#include "hub/journals.h"

#include <gtest/gtest.h>

#include "base/trace_fixture.h"
#include "hub/data_folder.h"
#include "hub/hub_fixture.h"

namespace evenkeel::hub {
namespace {

// A program that knows nothing of journals reads version 1 and refuses version 2.
TEST(Journals, asks_for_a_program_that_knows_journals_only_until_closed) {
    HubFixture world;
    const auto first_line = [&] {
        const auto bytes = io::read_file(*world.disk, test_folder + "/catalogue", 1 << 20);
        return bytes.ok() ? std::string(as_text(*bytes).substr(0, 20)) : "";
    };
    ASSERT_TRUE(world.open().ok());
    ASSERT_TRUE(world.create("h", {.partitions = 2}).ok());
    ASSERT_TRUE(world.append("h", 0, {"x"}).ok());
    EXPECT_EQ(first_line(), "evenkeel catalogue 2");
    EXPECT_TRUE(world.disk->list(journals_path(test_folder)).ok());

    world.close();

    EXPECT_EQ(first_line(), "evenkeel catalogue 1");
    EXPECT_FALSE(world.disk->list(journals_path(test_folder)).ok());
    ASSERT_TRUE(world.open().ok());
    EXPECT_EQ(*world.read("h", 0), Bodies{"x"});
}

TEST(Journals, makes_no_journal_where_the_operating_system_is_trusted) {
    HubFixture world({.sync_to_disk = false});
    ASSERT_TRUE(world.open().ok());
    ASSERT_TRUE(world.create("h", {.partitions = 1}).ok());
    ASSERT_TRUE(world.append("h", 0, {"x"}).ok());

    EXPECT_FALSE(world.disk->list(journals_path(test_folder)).ok());
}

TEST(Journals, replays_a_journal_before_it_trusts_the_system_again) {
    HubFixture world;
    ASSERT_TRUE(world.open().ok());
    ASSERT_TRUE(world.create("h", {.partitions = 1}).ok());
    ASSERT_TRUE(world.append("h", 0, {"x"}).ok());
    Random random(test::test_seed());
    HubFixture again(world.disk->crash(random, io::sim::CrashPolicy::drop_all),
                     {.sync_to_disk = false});

    ASSERT_TRUE(again.open().ok());

    EXPECT_EQ(*again.read("h", 0), Bodies{"x"});
    EXPECT_FALSE(again.disk->list(journals_path(test_folder)).ok());
}

// When the power goes, the journal still has the events of the removed one.
TEST(Journals, replays_nothing_into_an_event_hub_that_was_removed) {
    HubFixture world;
    ASSERT_TRUE(world.open().ok());
    ASSERT_TRUE(world.create("h", {.partitions = 1}).ok());
    ASSERT_TRUE(world.append("h", 0, {"old"}).ok());
    ASSERT_TRUE(world.remove("h").ok());
    ASSERT_TRUE(world.create("h", {.partitions = 1}).ok());
    Random random(test::test_seed());
    HubFixture again(world.disk->crash(random, io::sim::CrashPolicy::drop_all));

    ASSERT_TRUE(again.open().ok());

    EXPECT_EQ(*again.read("h", 0), Bodies{});
    EXPECT_TRUE(again.append("h", 0, {"new"}).ok());
    EXPECT_EQ(*again.read("h", 0), Bodies{"new"});
}

// A power loss, and then a file that cannot be written.
TEST(Journals, a_bad_partition_leaves_the_others_open) {
    HubFixture world;
    ASSERT_TRUE(world.open().ok());
    ASSERT_TRUE(world.create("h", {.partitions = 2}).ok());
    ASSERT_TRUE(world.append("h", 0, {"x"}).ok());
    ASSERT_TRUE(world.append("h", 1, {"y"}).ok());
    Random random(test::test_seed());
    HubFixture again(world.disk->crash(random, io::sim::CrashPolicy::drop_all));
    again.disk->fail({io::sim::OperationKind::write, "/00001/", 0, 1'000'000'000});

    ASSERT_TRUE(again.open().ok());

    EXPECT_EQ(*again.read("h", 0), Bodies{"x"});
    EXPECT_TRUE(again.append("h", 0, {"more"}).ok());
    const auto refused = again.append("h", 1, {"z"});
    ASSERT_FALSE(refused.ok());
    EXPECT_NE(refused.error().detail.find("kept in"), std::string::npos) << refused.error().detail;
    again.close();
    again.disk->clear_faults();
    const auto catalogue = io::read_file(*again.disk, test_folder + "/catalogue", 1 << 20);
    EXPECT_TRUE(as_text(*catalogue).starts_with("evenkeel catalogue 2"));
    ASSERT_TRUE(again.open().ok());
    EXPECT_EQ(*again.read("h", 1), Bodies{"y"});
    EXPECT_EQ(*again.read("h", 0), (Bodies{"x", "more"}));
}

// The disk has no room for the catalogue's next version, but for small events.
TEST(Journals, works_without_a_journal_if_none_can_be_made) {
    HubFixture world;
    ASSERT_TRUE(world.open().ok());
    ASSERT_TRUE(world.create("h", {.partitions = 1}).ok());
    world.close();
    world.disk->fail({io::sim::OperationKind::make_directory, "journal"});

    ASSERT_TRUE(world.open().ok());

    EXPECT_TRUE(world.append("h", 0, {"x"}).ok());
    EXPECT_FALSE(world.disk->list(journals_path(test_folder)).ok());
}

// After a kill the catalogue asks for journals already, but their folder may not be durable.
TEST(Journals, uses_no_folder_that_is_not_durable) {
    HubFixture world;
    ASSERT_TRUE(world.open().ok());
    ASSERT_TRUE(world.create("h", {.partitions = 1}).ok());
    ASSERT_TRUE(world.append("h", 0, {"before"}).ok());
    HubFixture again(world.disk->kill());
    // Behind that of the replay.
    again.disk->fail({io::sim::OperationKind::sync_directory, "hubs", 1});

    ASSERT_TRUE(again.open().ok());

    EXPECT_EQ(again.disk->faults(), 1u);
    const auto appended = again.append("h", 0, {"x"});
    EXPECT_TRUE(appended.ok()) << appended.error().detail;
    for (const auto& file : again.disk->files()) EXPECT_FALSE(file.ends_with(".journal")) << file;
}

// The log is what an operator has when events that were sent are not there any more.
TEST(Journals, reports_what_was_left_out) {
    HubFixture world;
    ASSERT_TRUE(world.open().ok());
    ASSERT_TRUE(world.create("h", {.partitions = 1}).ok());
    ASSERT_TRUE(world.append("h", 0, {"x"}).ok());
    ASSERT_TRUE(world.remove("h").ok());
    HubFixture again(world.disk->kill());
    CapturedTrace trace(TraceLevel::info);

    ASSERT_TRUE(again.open().ok());

    const std::string text = trace.take();
    EXPECT_NE(text.find("left_out_as_removed=1"), std::string::npos) << text;
}

}  // namespace
}  // namespace evenkeel::hub
