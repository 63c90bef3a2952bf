#include "hub/catalogue.h"

#include <fstream>

#include <gtest/gtest.h>

#include "base/format_version.h"
#include "io/sim/disk.h"
#include "support/paths.h"
#include "support/seed.h"

namespace evenkeel::hub {
namespace {

using io::sim::CrashPolicy;
using io::sim::Disk;

const std::string folder = "data";

EventHubRecord a_record(std::string name) {
    EventHubRecord record;
    record.name = std::move(name);
    record.incarnation = {std::byte{0xab}, std::byte{1}, std::byte{0xff}};
    record.partitions = 16;
    record.retention = std::chrono::hours(24);
    record.partition_bytes_max = std::uint64_t{1} << 40;
    record.created = {1'767'225'600'000};
    record.groups = {"audit", "reports"};
    return record;
}

Catalogue a_catalogue(std::uint64_t generation) {
    Catalogue catalogue;
    catalogue.generation = generation;
    catalogue.identity = {std::byte{0xcd}, std::byte{2}};
    catalogue.event_hubs = {a_record("homes"), a_record("Rooms/all.v-2_x")};
    catalogue.event_hubs[1].creating = true;
    catalogue.event_hubs[1].groups.clear();
    catalogue.removing = {{std::byte{9}}};
    return catalogue;
}

std::unique_ptr<Disk> a_disk() {
    auto disk = std::make_unique<Disk>();
    EXPECT_TRUE(disk->make_directory(folder).ok());
    EXPECT_TRUE(disk->sync_directory("").ok());
    return disk;
}

Result<Catalogue> loaded(Disk& disk) {
    EK_TRY_ASSIGN(auto found, load_catalogue(disk, folder));
    if (!found) return Error{ErrorCode::not_found, "no catalogue"};
    return std::move(found->catalogue);
}

std::string path(const char* name) {
    return folder + "/" + name;
}

TEST(Catalogue, gives_back_what_was_encoded) {
    for (const auto& catalogue : {Catalogue(), a_catalogue(7)}) {
        const auto decoded = decode_catalogue(encode(catalogue));
        ASSERT_TRUE(decoded.ok()) << decoded.error().detail;
        EXPECT_EQ(*decoded, catalogue);
    }
}

TEST(Catalogue, keeps_the_largest_numbers) {
    Catalogue catalogue = a_catalogue(std::numeric_limits<std::uint64_t>::max());
    catalogue.event_hubs[0].partition_bytes_max = std::numeric_limits<std::uint64_t>::max();
    catalogue.event_hubs[0].retention = std::chrono::milliseconds::max();
    catalogue.event_hubs[0].partitions = std::numeric_limits<std::uint32_t>::max();

    EXPECT_EQ(*decode_catalogue(encode(catalogue)), catalogue);
}

TEST(Catalogue, is_refused_when_it_is_cut_or_longer) {
    const std::string text = encode(a_catalogue(7));
    for (std::size_t size = 0; size < text.size(); ++size) {
        EXPECT_EQ(decode_catalogue(text.substr(0, size)).error().code, ErrorCode::corrupt);
    }
    EXPECT_FALSE(decode_catalogue(text + "\n").ok());
}

TEST(Catalogue, is_read_from_the_other_file_whichever_bit_of_one_flips) {
    auto disk = a_disk();
    Catalogue catalogue = a_catalogue(1);
    catalogue.event_hubs.resize(1);
    ASSERT_TRUE(save_catalogue(*disk, folder, catalogue).ok());
    for (const char* name : {catalogue_file_name, catalogue_copy_name}) {
        for (std::uint64_t byte = 0; byte < disk->file_size(path(name)); ++byte) {
            for (unsigned bit = 0; bit < 8; ++bit) {
                disk->flip_bit(path(name), byte, bit);
                const auto found = loaded(*disk);
                ASSERT_TRUE(found.ok()) << found.error().detail;
                ASSERT_EQ(*found, catalogue) << name << " byte " << byte << " bit " << bit;
                disk->flip_bit(path(name), byte, bit);
            }
        }
    }
}

TEST(Catalogue, is_not_whole_until_both_files_are_good_and_alike) {
    auto disk = a_disk();
    ASSERT_TRUE(save_catalogue(*disk, folder, a_catalogue(1)).ok());
    EXPECT_TRUE((*load_catalogue(*disk, folder))->whole);

    disk->flip_bit(path(catalogue_copy_name), 40, 3);
    EXPECT_FALSE((*load_catalogue(*disk, folder))->whole);
    ASSERT_TRUE(disk->remove(path(catalogue_copy_name)).ok());
    EXPECT_FALSE((*load_catalogue(*disk, folder))->whole);
    ASSERT_TRUE(save_catalogue(*disk, folder, a_catalogue(2)).ok());
    EXPECT_TRUE((*load_catalogue(*disk, folder))->whole);
}

TEST(Catalogue, that_is_damaged_twice_is_an_error_that_names_both_files) {
    auto disk = a_disk();
    ASSERT_TRUE(save_catalogue(*disk, folder, a_catalogue(1)).ok());
    disk->flip_bit(path(catalogue_file_name), 60, 0);
    disk->flip_bit(path(catalogue_copy_name), 61, 7);

    const auto found = loaded(*disk);

    ASSERT_FALSE(found.ok());
    EXPECT_EQ(found.error().code, ErrorCode::corrupt);
    EXPECT_EQ(found.error().detail,
              "data/catalogue: not a good catalogue: its checksum is wrong; data/catalogue.copy: "
              "not a good catalogue: its checksum is wrong; restore one of them from a copy of the "
              "data folder");
}

std::string golden(const char* name) {
    std::ifstream file(test::data_path(name));
    return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Catalogue, is_written_byte_for_byte_as_version_1_says) {
    EXPECT_EQ(encode(a_catalogue(7)), golden("catalogue_v1_with_identity"));
}

TEST(Catalogue, of_version_1_without_an_identity_is_read) {
    const auto catalogue = decode_catalogue(golden("catalogue_v1"));

    ASSERT_TRUE(catalogue.ok()) << catalogue.error().detail;
    EXPECT_EQ(catalogue->generation, 7u);
    ASSERT_EQ(catalogue->event_hubs.size(), 1u);
    EXPECT_EQ(catalogue->event_hubs[0].groups, std::vector<std::string>{"billing"});
    EXPECT_EQ(*decode_catalogue(encode(*catalogue)), *catalogue);
}

TEST(Catalogue, of_version_2_says_that_there_are_journals) {
    const auto catalogue = decode_catalogue(golden("catalogue_v2"));

    ASSERT_TRUE(catalogue.ok()) << catalogue.error().detail;
    EXPECT_TRUE(catalogue->journals);
    EXPECT_EQ(encode(*catalogue), golden("catalogue_v2"));
    EXPECT_FALSE(decode_catalogue(golden("catalogue_v1"))->journals);
}

TEST(Catalogue, of_a_newer_version_is_refused_also_beside_an_older_copy) {
    auto disk = a_disk();
    ASSERT_TRUE(save_catalogue(*disk, folder, a_catalogue(1)).ok());
    ASSERT_TRUE(io::replace_file(*disk, path(catalogue_copy_name),
                                 as_bytes(format::framed("catalogue", 3, "{}")))
                    .ok());

    const auto found = loaded(*disk);

    ASSERT_FALSE(found.ok());
    EXPECT_EQ(found.error().code, ErrorCode::unsupported);
    EXPECT_NE(found.error().detail.find("version 3"), std::string::npos) << found.error().detail;
    EXPECT_NE(found.error().detail.find("up to 2"), std::string::npos) << found.error().detail;
}

TEST(Catalogue, is_read_from_the_copy_when_the_disk_cannot_read_the_first) {
    auto disk = a_disk();
    ASSERT_TRUE(save_catalogue(*disk, folder, a_catalogue(1)).ok());
    disk->fail({.kind = io::sim::OperationKind::read, .path_contains = "catalogue"});

    EXPECT_EQ(*loaded(*disk), a_catalogue(1));
}

TEST(Catalogue, that_no_file_gives_is_not_called_damaged_when_the_disk_fails) {
    auto disk = a_disk();
    ASSERT_TRUE(save_catalogue(*disk, folder, a_catalogue(1)).ok());
    disk->fail({.kind = io::sim::OperationKind::read, .times = 2});

    EXPECT_EQ(loaded(*disk).error().code, ErrorCode::unavailable);
    EXPECT_TRUE(loaded(*disk).ok());
}

TEST(Catalogue, does_not_exist_where_neither_file_does) {
    auto disk = a_disk();

    const auto found = load_catalogue(*disk, folder);

    ASSERT_TRUE(found.ok());
    EXPECT_FALSE(found->has_value());
}

// HUB-4: one crash at each step of a save, in each way, gives the old one or the new one.
TEST(CatalogueSave, leaves_the_old_one_or_the_new_one_at_every_crash) {
    Random random(test::test_seed());
    auto disk = a_disk();
    ASSERT_TRUE(save_catalogue(*disk, folder, a_catalogue(1)).ok());
    std::size_t images = 0;
    const auto check = [&](bool acknowledged) {
        for (int policy = 0; policy <= static_cast<int>(CrashPolicy::any); ++policy) {
            for (int round = 0; round < 8; ++round) {
                const auto image = disk->crash(random, static_cast<CrashPolicy>(policy));
                const auto found = loaded(*image);
                ASSERT_TRUE(found.ok()) << found.error().detail;
                const auto generation = found->generation;
                ASSERT_TRUE(generation == 2 || (generation == 1 && !acknowledged)) << generation;
                ASSERT_EQ(*found, a_catalogue(generation));
                ++images;
            }
        }
    };
    disk->set_hook([&](const io::sim::Operation&) { check(false); });

    ASSERT_TRUE(save_catalogue(*disk, folder, a_catalogue(2)).ok());

    disk->set_hook({});
    check(true);
    EXPECT_GT(images, 8u * 48);
}

TEST(CatalogueSave, that_ran_out_of_space_changes_nothing) {
    auto disk = a_disk();
    ASSERT_TRUE(save_catalogue(*disk, folder, a_catalogue(1)).ok());
    const auto used = disk->file_size(path(catalogue_file_name));
    for (const std::uint64_t room : {std::uint64_t{0}, std::uint64_t{10}, used, used + 50}) {
        disk->set_capacity_bytes(2 * used + room);

        const auto saved = save_catalogue(*disk, folder, a_catalogue(2));

        ASSERT_FALSE(saved.ok());
        EXPECT_EQ(saved.error().code, ErrorCode::overloaded);
        EXPECT_EQ(*loaded(*disk), a_catalogue(1));
        EXPECT_EQ(disk->files().size(), 2u);
    }
    disk->set_capacity_bytes(4 * used + 64);
    EXPECT_TRUE(save_catalogue(*disk, folder, a_catalogue(2)).ok());
    EXPECT_EQ(*loaded(*disk), a_catalogue(2));
}

TEST(Incarnation, is_text_of_one_form) {
    const commitlog::Incarnation incarnation{std::byte{0xab}, std::byte{1}};
    const std::string text = "ab010000000000000000000000000000";

    EXPECT_EQ(to_text(incarnation), text);
    EXPECT_EQ(parse_incarnation(text), incarnation);
    for (const std::string bad :
         {"", "ab", "AB010000000000000000000000000000", "zb010000000000000000000000000000",
          "-1010000000000000000000000000000", "ab0100000000000000000000000000000"}) {
        EXPECT_FALSE(parse_incarnation(bad)) << bad;
    }
}

}  // namespace
}  // namespace evenkeel::hub
