#include "hub/data_folder.h"

#include <map>

#include <gtest/gtest.h>

#include "io/sim/disk.h"
#include "support/seed.h"

namespace evenkeel::hub {
namespace {

using io::sim::CrashPolicy;
using io::sim::Disk;

const std::string data_folder = "data";
const commitlog::Incarnation one{std::byte{1}};
const commitlog::Incarnation two{std::byte{2}};

void make_file(Disk& disk, const std::string& path, std::string_view text = "x") {
    auto file = disk.open(path, io::OpenMode::create);
    ASSERT_TRUE(file.ok()) << file.error().detail;
    ASSERT_TRUE((*file)->write(0, as_bytes(text)).ok());
}

void make_folder(Disk& disk, const std::string& path) {
    const auto made = disk.make_directory(path);
    ASSERT_TRUE(made.ok()) << made.error().detail;
}

// A hub whose catalogue has the event hubs with a folder and a file in it each.
std::unique_ptr<Disk> disk_with(const std::vector<commitlog::Incarnation>& hubs = {},
                                const std::vector<commitlog::Incarnation>& removing = {},
                                bool creating = false) {
    auto disk = std::make_unique<Disk>();
    auto made = open_data_folder(*disk, data_folder);
    EXPECT_TRUE(made.ok());
    Catalogue catalogue = made->catalogue;
    for (const auto& incarnation : hubs) {
        EventHubRecord record;
        record.name = "h" + to_text(incarnation).substr(0, 2);
        record.incarnation = incarnation;
        record.partitions = 1;
        record.creating = creating;
        catalogue.event_hubs.push_back(record);
    }
    catalogue.removing = removing;
    catalogue.generation += 1;
    EXPECT_TRUE(save_catalogue(*disk, data_folder, catalogue).ok());
    for (const auto& list : {hubs, removing}) {
        for (const auto& incarnation : list) {
            make_folder(*disk, event_hub_path(data_folder, incarnation));
            make_folder(*disk, partition_path(data_folder, incarnation, {0}));
            make_file(*disk, partition_path(data_folder, incarnation, {0}) + "/mark");
        }
    }
    EXPECT_TRUE(disk->sync_directory(data_folder + "/hubs").ok());
    return disk;
}

struct Snapshot {
    std::vector<std::string> files;
    std::uint64_t operations;
    bool operator==(const Snapshot&) const = default;
};
Snapshot snapshot(const Disk& disk) {
    return {disk.files(), disk.operations()};
}

TEST(DataFolder, is_made_where_nothing_is) {
    Disk disk;

    const auto opened = open_data_folder(disk, data_folder);

    ASSERT_TRUE(opened.ok()) << opened.error().detail;
    EXPECT_TRUE(opened->catalogue.event_hubs.empty());
    EXPECT_EQ(disk.files(),
              (std::vector<std::string>{"data/catalogue", "data/catalogue.copy", "data/lock"}));
}

TEST(DataFolder, is_made_in_a_folder_that_is_empty_or_a_fresh_disk) {
    Disk disk;
    make_folder(disk, data_folder);
    make_folder(disk, data_folder + "/lost+found");

    EXPECT_TRUE(open_data_folder(disk, data_folder).ok());
}

TEST(DataFolder, asks_for_its_name_and_its_parent) {
    Disk disk;

    EXPECT_EQ(open_data_folder(disk, "").error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(open_data_folder(disk, "no/such/place").error().code, ErrorCode::not_found);
    EXPECT_TRUE(disk.files().empty());
}

TEST(DataFolder, lasts_from_the_moment_it_is_open) {
    Random random(test::test_seed());
    for (const std::string& path :
         {data_folder, "/" + data_folder, std::string("a/b"), std::string("a/b/")}) {
        Disk disk;
        make_folder(disk, "a");
        ASSERT_TRUE(disk.sync_directory("").ok());
        auto opened = open_data_folder(disk, path);
        ASSERT_TRUE(opened.ok()) << opened.error().detail;

        const auto image = disk.crash(random, CrashPolicy::drop_all);

        const auto found = load_catalogue(*image, path);
        ASSERT_TRUE(found.ok());
        EXPECT_TRUE(found->has_value()) << path;
    }
}

TEST(DataFolder, can_be_made_again_after_a_crash_at_any_step_of_making_it) {
    Random random(test::test_seed());
    Disk disk;
    disk.set_hook([&](const io::sim::Operation&) {
        for (int policy = 0; policy <= static_cast<int>(CrashPolicy::any); ++policy) {
            const auto image = disk.crash(random, static_cast<CrashPolicy>(policy));
            const auto again = open_data_folder(*image, data_folder);
            ASSERT_TRUE(again.ok()) << again.error().detail;
        }
    });

    EXPECT_TRUE(open_data_folder(disk, data_folder).ok());
}

TEST(DataFolder, that_holds_something_else_is_refused_untouched) {
    for (const std::string stranger : {"holiday.jpg", "Catalogue", "catalogue.bak", ".hidden"}) {
        Disk disk;
        make_folder(disk, data_folder);
        make_file(disk, data_folder + "/" + stranger);
        const auto before = snapshot(disk);

        const auto opened = open_data_folder(disk, data_folder);

        ASSERT_FALSE(opened.ok());
        EXPECT_EQ(opened.error().code, ErrorCode::corrupt);
        EXPECT_EQ(opened.error().detail, "data holds '" + stranger +
                                             "', which is not part of a hub; move it away, or "
                                             "choose another data folder");
        EXPECT_EQ(snapshot(disk), before);
    }
}

TEST(DataFolder, that_is_a_file_is_refused_untouched) {
    Disk disk;
    make_file(disk, data_folder);
    const auto before = snapshot(disk);

    EXPECT_FALSE(open_data_folder(disk, data_folder).ok());

    EXPECT_EQ(disk.files(), before.files);
}

TEST(DataFolder, with_event_hubs_but_no_catalogue_is_refused_untouched) {
    auto disk = disk_with({one});
    ASSERT_TRUE(disk->remove("data/catalogue").ok());
    ASSERT_TRUE(disk->remove("data/catalogue.copy").ok());
    const auto before = snapshot(*disk);

    const auto opened = open_data_folder(*disk, data_folder);

    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().code, ErrorCode::corrupt);
    EXPECT_EQ(opened.error().detail,
              "data has event hubs but neither 'catalogue' nor 'catalogue.copy'; restore one of "
              "them from a copy");
    EXPECT_EQ(snapshot(*disk), before);
}

TEST(DataFolder, with_an_unknown_folder_is_refused_and_left_as_it_is) {
    const std::string names[] = {"notes", to_text(two), "01"};
    for (const auto& name : names) {
        auto disk = disk_with({one});
        make_folder(*disk, "data/hubs/" + name);
        const auto before = disk->files();

        const auto opened = open_data_folder(*disk, data_folder);

        ASSERT_FALSE(opened.ok());
        EXPECT_EQ(opened.error().code, ErrorCode::corrupt);
        EXPECT_EQ(opened.error().detail,
                  "data/hubs/" + name + " belongs to no event hub of this hub; move it away");
        EXPECT_EQ(disk->files(), before);
    }
}

TEST(DataFolder, with_two_damaged_catalogues_is_refused_and_nothing_removed) {
    auto disk = disk_with({one});
    disk->flip_bit("data/catalogue", 50, 0);
    disk->flip_bit("data/catalogue.copy", 50, 0);
    const auto before = disk->files();

    EXPECT_EQ(open_data_folder(*disk, data_folder).error().code, ErrorCode::corrupt);
    EXPECT_EQ(disk->files(), before);
}

TEST(DataFolder, keeps_its_identity_and_gets_one_if_it_has_none) {
    const auto disk = disk_with({one});
    const auto first = open_data_folder(*disk, data_folder)->catalogue.identity;
    EXPECT_NE(first, commitlog::Incarnation{});
    EXPECT_EQ(open_data_folder(*disk, data_folder)->catalogue.identity, first);

    // As a version without identities has left it.
    Catalogue old = open_data_folder(*disk, data_folder)->catalogue;
    old.identity = {};
    old.generation += 1;
    ASSERT_TRUE(save_catalogue(*disk, data_folder, old).ok());
    const auto given = open_data_folder(*disk, data_folder)->catalogue.identity;

    EXPECT_NE(given, commitlog::Incarnation{});
    EXPECT_EQ(open_data_folder(*disk, data_folder)->catalogue.identity, given);
    EXPECT_NE(open_data_folder(*disk_with(), data_folder)->catalogue.identity, given);
}

TEST(DataFolder, belongs_to_one_at_a_time) {
    Disk disk;
    auto first = open_data_folder(disk, data_folder);
    ASSERT_TRUE(first.ok());
    const auto before = disk.files();

    const auto second = open_data_folder(disk, data_folder);

    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.error().code, ErrorCode::conflict);
    EXPECT_EQ(disk.files(), before);
    first->lock.reset();
    EXPECT_TRUE(open_data_folder(disk, data_folder).ok());
}

TEST(DataFolder, mends_a_damaged_or_missing_catalogue_file_when_it_is_opened) {
    for (const char* name : {catalogue_file_name, catalogue_copy_name}) {
        auto disk = disk_with({one});
        disk->flip_bit(data_folder + "/" + name, 50, 0);
        ASSERT_TRUE(open_data_folder(*disk, data_folder).ok());
        EXPECT_TRUE((*load_catalogue(*disk, data_folder))->whole);

        ASSERT_TRUE(disk->remove(data_folder + "/" + name).ok());
        ASSERT_TRUE(open_data_folder(*disk, data_folder).ok());
        EXPECT_TRUE((*load_catalogue(*disk, data_folder))->whole);
    }
}

TEST(DataFolder, changes_nothing_when_all_is_well) {
    auto disk = disk_with({one});
    { ASSERT_TRUE(open_data_folder(*disk, data_folder).ok()); }
    const auto generation = (*load_catalogue(*disk, data_folder))->catalogue.generation;

    ASSERT_TRUE(open_data_folder(*disk, data_folder).ok());

    EXPECT_EQ((*load_catalogue(*disk, data_folder))->catalogue.generation, generation);
}

TEST(DataFolder, finishes_removals_and_undoes_creations_cut_short) {
    for (const bool creating : {false, true}) {
        auto disk = creating ? disk_with({one}, {}, true) : disk_with({two}, {one});

        const auto opened = open_data_folder(*disk, data_folder);

        ASSERT_TRUE(opened.ok()) << opened.error().detail;
        EXPECT_EQ(opened->catalogue.event_hubs.size(), creating ? 0u : 1u);
        EXPECT_TRUE(opened->catalogue.removing.empty());
        for (const auto& file : disk->files()) {
            EXPECT_EQ(file.find(to_text(one)), std::string::npos) << file;
        }
    }
}

TEST(DataFolder, survives_a_crash_at_each_step_of_finishing_what_was_begun) {
    Random random(test::test_seed());
    auto disk = disk_with({two}, {one});
    std::size_t images = 0;
    disk->set_hook([&](const io::sim::Operation&) {
        for (int policy = 0; policy <= static_cast<int>(CrashPolicy::any); ++policy) {
            const auto image = disk->crash(random, static_cast<CrashPolicy>(policy));
            const auto again = open_data_folder(*image, data_folder);
            ASSERT_TRUE(again.ok()) << again.error().detail;
            ASSERT_EQ(again->catalogue.event_hubs.size(), 1u);
            ASSERT_EQ(again->catalogue.event_hubs[0].incarnation, two);
            ASSERT_TRUE(again->catalogue.removing.empty());
            ++images;
        }
    });

    ASSERT_TRUE(open_data_folder(*disk, data_folder).ok());
    EXPECT_GT(images, 30u);
}

TEST(DataFolder, opens_although_a_leftover_cannot_be_removed) {
    auto disk = disk_with({two}, {one});
    disk->fail({.kind = io::sim::OperationKind::remove, .path_contains = to_text(one)});

    auto opened = open_data_folder(*disk, data_folder);

    ASSERT_TRUE(opened.ok()) << opened.error().detail;
    EXPECT_EQ(opened->catalogue.removing, (std::vector<commitlog::Incarnation>{one}));
    opened->lock.reset();
    opened = open_data_folder(*disk, data_folder);
    ASSERT_TRUE(opened.ok());
    EXPECT_TRUE(opened->catalogue.removing.empty());
}

TEST(DataFolder, ignores_what_a_crash_left_of_a_catalogue_being_written) {
    auto disk = disk_with({one});
    make_file(*disk, "data/catalogue.tmp", "half a cata");
    make_file(*disk, "data/catalogue.copy.tmp", "");

    const auto opened = open_data_folder(*disk, data_folder);

    ASSERT_TRUE(opened.ok()) << opened.error().detail;
    EXPECT_EQ(opened->catalogue.event_hubs.size(), 1u);
}

}  // namespace
}  // namespace evenkeel::hub
