#include "hub/hub_folders.h"

#include <gtest/gtest.h>

#include "base/metrics.h"
#include "hub/data_folder.h"
#include "io/sim/disk.h"
#include "io/sim/scheduler.h"
#include "support/seed.h"

namespace evenkeel::hub {
namespace {

// A new data folder and its catalogue.
class HubFoldersTest : public testing::Test {
protected:
    HubFoldersTest() {
        options.directory = "data";
        auto opened = open_data_folder(disk, "data");
        EXPECT_TRUE(opened.ok());
        folder = std::move(*opened);
    }
    // The catalogue with one event hub more.
    Catalogue with(const std::string& name, std::uint32_t partitions) const {
        Catalogue next = folder.catalogue;
        EventHubRecord record;
        record.name = name;
        record.incarnation[0] = std::byte{9};
        record.partitions = partitions;
        record.creating = true;
        next.event_hubs.push_back(record);
        return next;
    }
    Catalogue saved() {
        const auto loaded = load_catalogue(disk, "data");
        EXPECT_TRUE(loaded.ok() && loaded->has_value());
        return (*loaded)->catalogue;
    }
    std::size_t log_files() const {
        std::size_t count = 0;
        for (const auto& file : disk.files()) count += file.ends_with(".log");
        return count;
    }

    HubOptions options;
    io::sim::Disk disk;
    io::sim::Scheduler scheduler{test::test_seed()};
    io::sim::SimLoop loop{scheduler, "loop/0"};
    io::sim::SimExecutor disk_0{scheduler, "disk/0"};
    io::sim::SimExecutor disk_1{scheduler, "disk/1"};
    io::sim::SimExecutor metadata{scheduler, "meta/0"};
    Metrics registry;
    commitlog::LogMetrics metrics{registry};
    const NamespaceContext context{disk, loop, {&disk_0, &disk_1}, metadata, metrics, {}};
    const HubFolders folders{context, options};
    DataFolder folder;
};

TEST_F(HubFoldersTest, creates_an_event_hub_with_its_logs) {
    Catalogue next = with("h", 3);
    OpenedLogs logs;

    ASSERT_TRUE(folders.create(next, logs).ok());

    EXPECT_EQ(logs.size(), 3u);
    EXPECT_EQ(log_files(), 3u);
    EXPECT_EQ(saved(), next);
    EXPECT_FALSE(next.event_hubs.back().creating);
}

// HUB-6
TEST_F(HubFoldersTest, takes_back_what_could_not_be_created) {
    Catalogue next = with("h", 3);
    OpenedLogs logs;
    disk.fail({.kind = io::sim::OperationKind::create, .path_contains = "hubs/", .after = 2});

    EXPECT_FALSE(folders.create(next, logs).ok());

    EXPECT_TRUE(logs.empty());
    EXPECT_EQ(log_files(), 0u);
    EXPECT_TRUE(next.event_hubs.empty());
    EXPECT_TRUE(next.removing.empty());
    EXPECT_EQ(saved(), next);
}

TEST_F(HubFoldersTest, adds_the_partitions_that_are_new) {
    Catalogue before = with("h", 2);
    OpenedLogs logs;
    ASSERT_TRUE(folders.create(before, logs).ok());
    Catalogue next = before;
    next.event_hubs.back().partitions = 5;
    OpenedLogs added;

    ASSERT_TRUE(folders.alter(before, next, "h", added).ok());

    EXPECT_EQ(added.size(), 3u);
    EXPECT_EQ(saved().event_hubs.back().partitions, 5u);
}

TEST_F(HubFoldersTest, goes_back_when_a_change_cannot_be_saved) {
    Catalogue before = with("h", 2);
    OpenedLogs logs;
    ASSERT_TRUE(folders.create(before, logs).ok());
    Catalogue next = before;
    next.event_hubs.back().groups = {"g"};
    disk.fail({.kind = io::sim::OperationKind::sync, .path_contains = "catalogue"});

    EXPECT_FALSE(folders.save_or(before, next).ok());

    EXPECT_TRUE(next.event_hubs.back().groups.empty());
    EXPECT_EQ(saved().event_hubs, before.event_hubs);
}

TEST_F(HubFoldersTest, removes_a_folder_and_its_name) {
    Catalogue next = with("h", 2);
    OpenedLogs logs;
    ASSERT_TRUE(folders.create(next, logs).ok());
    logs.clear();
    const auto incarnation = next.event_hubs.back().incarnation;
    next.event_hubs.clear();
    next.removing = {incarnation};

    ASSERT_TRUE(folders.remove(next, incarnation).ok());

    EXPECT_EQ(log_files(), 0u);
    EXPECT_TRUE(saved().removing.empty());
}

TEST_F(HubFoldersTest, deals_partitions_out_over_the_disks) {
    const EventHubRecord record = with("h", 4).event_hubs.back();

    EXPECT_NE(folders.disk_of(record, {0}), folders.disk_of(record, {1}));
    EXPECT_EQ(folders.disk_of(record, {0}), folders.disk_of(record, {2}));
}

}  // namespace
}  // namespace evenkeel::hub
