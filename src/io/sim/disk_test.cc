// How the simulated disk fails, fills up, rots and is watched; what it forgets is tested in
// disk_crash_contract.h, and how it behaves otherwise in io/file_test.cc.
#include "io/sim/disk.h"

#include <optional>
#include <string>
#include <vector>

#include "io/sim/disk_crash_contract.h"
#include "io/sim/disk_fixture.h"

namespace evenkeel::io::sim {
namespace {

TEST(DiskLock, is_not_held_after_a_crash_or_a_kill) {
    Disk disk;
    Random random(1);
    const auto held = disk.lock("LOCK");
    ASSERT_TRUE(held.ok());

    EXPECT_TRUE(disk.crash(random, keep_all)->lock("LOCK").ok());
    EXPECT_TRUE(disk.kill()->lock("LOCK").ok());
    EXPECT_EQ(disk.lock("LOCK").error().code, ErrorCode::conflict);
}

TEST(DiskFault, comes_after_some_calls_and_goes_after_some_more) {
    Disk disk;
    make(disk, "a", "");
    const auto file = open(disk, "a");
    disk.fail({.kind = OperationKind::write, .after = 2, .times = 2});

    std::string outcome;
    for (int i = 0; i < 6; ++i) outcome += file->write(0, as_bytes("x")).ok() ? 'y' : 'n';

    EXPECT_EQ(outcome, "yynnyy");
    EXPECT_EQ(disk.faults(), 2u);
}

TEST(DiskFault, hits_only_paths_that_contain_its_text) {
    Disk disk;
    disk.fail({.kind = OperationKind::create, .path_contains = ".seg", .times = 100});

    EXPECT_TRUE(disk.open("1.idx", OpenMode::create).ok());
    EXPECT_FALSE(disk.open("1.seg", OpenMode::create).ok());
    disk.clear_faults();
    EXPECT_TRUE(disk.open("1.seg", OpenMode::create).ok());
}

TEST(DiskFault, hits_every_kind_of_call_and_says_which) {
    for (auto kind = OperationKind::read; kind <= OperationKind::list;
         kind = static_cast<OperationKind>(static_cast<int>(kind) + 1)) {
        Disk disk;
        make(disk, "a", "a");
        const auto file = open(disk, "a");
        disk.fail({.kind = kind, .times = 100});
        std::vector<Error> errors;
        const auto note = [&](const auto& result) {
            if (!result.ok()) errors.push_back(result.error());
        };

        std::byte buffer[1];
        note(file->read(0, buffer));
        note(file->write(0, as_bytes("a")));
        note(file->sync());
        note(file->truncate(1));
        note(disk.open("a", OpenMode::read));
        note(disk.open("b", OpenMode::create));
        note(disk.make_directory("d"));
        note(disk.rename("a", "c"));
        note(disk.sync_directory(""));
        note(disk.list(""));
        note(disk.remove(kind == OperationKind::rename ? "a" : "c"));

        ASSERT_EQ(errors.size(), 1u) << to_string(kind);
        EXPECT_EQ(errors[0].code, ErrorCode::unavailable);
        EXPECT_EQ(errors[0].detail.find(to_string(kind)), 0u) << errors[0].detail;
    }
}

TEST(DiskFault, of_a_full_device_is_told_from_a_broken_one) {
    Disk disk;
    make(disk, "a", "");
    disk.fail({.kind = OperationKind::write, .fault = Fault::no_space});

    EXPECT_EQ(open(disk, "a")->write(0, as_bytes("x")).error().code, ErrorCode::overloaded);
    EXPECT_EQ(disk.file_size("a"), 0u);
}

TEST(DiskFault, a_short_write_leaves_half) {
    Disk disk;
    make(disk, "a", "");
    disk.fail({.kind = OperationKind::write, .fault = Fault::short_write});

    EXPECT_EQ(open(disk, "a")->write(0, as_bytes("12345678")).error().code, ErrorCode::unavailable);
    EXPECT_EQ(text_in(disk, "a"), "1234");
}

TEST(DiskFault, a_failed_sync_loses_for_good_what_it_was_to_keep) {
    Disk disk;
    Random random(test::test_seed());
    make_durable(disk, "a", "old");
    write(disk, "a", 0, "new!");
    disk.fail({.kind = OperationKind::sync});

    const auto file = open(disk, "a");
    EXPECT_FALSE(file->sync().ok());
    EXPECT_EQ(text_in(disk, "a"), "new!");  // the page cache has it, marked clean
    EXPECT_TRUE(file->sync().ok());         // nothing to do: success
    EXPECT_EQ(text_in(disk, "a"), "new!");

    for (const CrashPolicy policy : {drop_all, random_subset, grown_with_zeros, prefix}) {
        EXPECT_EQ(text_in(*disk.crash(random, policy), "a"), "old");
    }
    EXPECT_EQ(text_in(*disk.kill()->crash(random, drop_all), "a"), "old");
}

TEST(DiskFault, after_a_failed_sync_only_bytes_written_anew_become_durable) {
    Disk disk;
    Random random(1);
    make_durable(disk, "a", "oooooo");
    write(disk, "a", 0, "nnnnnnnn");
    disk.fail({.kind = OperationKind::sync});
    const auto file = open(disk, "a");
    ASSERT_FALSE(file->sync().ok());

    write(disk, "a", 2, "xx");
    ASSERT_TRUE(file->sync().ok());
    EXPECT_EQ(text_in(disk, "a"), "nnxxnnnn");
    EXPECT_EQ(text_in(*disk.crash(random, drop_all), "a"), "ooxxoo");

    write(disk, "a", 0, "nnnnnnnn");
    ASSERT_TRUE(file->sync().ok());
    EXPECT_EQ(text_in(*disk.crash(random, drop_all), "a"), "nnnnnnnn");
}

TEST(DiskFault, an_append_after_a_lost_one_leaves_a_hole) {
    Disk disk;
    Random random(1);
    make_durable(disk, "a", "1");
    write(disk, "a", 1, "2");
    disk.fail({.kind = OperationKind::sync, .fault = Fault::no_space});
    const auto file = open(disk, "a");
    EXPECT_EQ(file->sync().error().code, ErrorCode::overloaded);

    write(disk, "a", 2, "3");
    ASSERT_TRUE(file->sync().ok());

    EXPECT_EQ(text_in(disk, "a"), "123");
    EXPECT_EQ(text_in(*disk.crash(random, drop_all), "a"), std::string("1\0003", 3));
}

TEST(DiskFault, a_failed_folder_sync_leaves_names_pending) {
    Disk disk;
    Random random(1);
    make(disk, "a", "");
    disk.fail({.kind = OperationKind::sync_directory});

    EXPECT_FALSE(disk.sync_directory("").ok());
    EXPECT_EQ(disk.crash(random, drop_all)->files(), std::vector<std::string>{});
    EXPECT_TRUE(disk.sync_directory("").ok());
    EXPECT_EQ(disk.crash(random, drop_all)->files(), std::vector<std::string>{"a"});
}

TEST(DiskCapacity, a_write_that_does_not_fit_is_cut_and_refused) {
    Disk disk;
    make(disk, "a", "12345");
    disk.set_capacity_bytes(10);
    EXPECT_EQ(*disk.free_bytes(""), 5u);

    const auto file = open(disk, "a");
    EXPECT_EQ(file->write(5, as_bytes("67890+")).error().code, ErrorCode::overloaded);
    EXPECT_EQ(text_in(disk, "a"), "1234567890");
    EXPECT_EQ(*disk.free_bytes(""), 0u);
    EXPECT_TRUE(file->write(0, as_bytes("in place")).ok());
    EXPECT_EQ(file->truncate(11).error().code, ErrorCode::overloaded);
    EXPECT_TRUE(disk.open("empty", OpenMode::create).ok());
}

TEST(DiskCapacity, comes_back_by_truncation_and_removal) {
    Disk disk;
    make(disk, "a", "12345");
    make(disk, "b", "12345");
    disk.set_capacity_bytes(10);

    EXPECT_TRUE(open(disk, "a")->truncate(2).ok());
    EXPECT_EQ(*disk.free_bytes(""), 3u);
    EXPECT_TRUE(disk.remove("b").ok());
    EXPECT_EQ(*disk.free_bytes(""), 8u);
}

TEST(DiskCapacity, comes_back_from_an_open_file_only_when_it_is_closed) {
    Disk disk;
    make(disk, "a", "12345");
    disk.set_capacity_bytes(10);
    auto file = open(disk, "a");

    ASSERT_TRUE(disk.remove("a").ok());
    EXPECT_EQ(*disk.free_bytes(""), 5u);
    file.reset();
    EXPECT_EQ(*disk.free_bytes(""), 10u);
}

TEST(DiskRot, flips_a_bit_now_and_after_a_crash) {
    Disk disk;
    Random random(1);
    make_durable(disk, "a", "AAA");

    disk.flip_bit("a", 1, 1);

    EXPECT_EQ(text_in(disk, "a"), "ACA");
    EXPECT_EQ(text_in(*disk.crash(random, drop_all), "a"), "ACA");
    disk.flip_bit("a", 1, 1);
    EXPECT_EQ(text_in(disk, "a"), "AAA");
}

TEST(DiskRot, overwrites_what_is_there_and_no_more) {
    Disk disk;
    Random random(1);
    make_durable(disk, "a", "AAA");
    write(disk, "a", 3, "BBB");

    disk.overwrite("a", 2, as_bytes("xxxxxx"));

    EXPECT_EQ(text_in(disk, "a"), "AAxxxx");
    EXPECT_EQ(text_in(*disk.crash(random, drop_all), "a"), "AAx");
}

TEST(DiskRot, does_not_reach_images_taken_before) {
    Disk disk;
    Random random(1);
    make_durable(disk, "a", "AAA");
    const auto image = disk.crash(random, keep_all);

    disk.flip_bit("a", 0, 1);

    EXPECT_EQ(text_in(*image, "a"), "AAA");
}

TEST(Disk, lists_all_its_files) {
    Disk disk;
    ASSERT_TRUE(disk.make_directory("d").ok());
    ASSERT_TRUE(disk.make_directory("d/empty").ok());
    make(disk, "z", "");
    make(disk, "/d/a", "12");

    EXPECT_EQ(disk.files(), (std::vector<std::string>{"d/a", "z"}));
    EXPECT_EQ(disk.file_size("d//a"), 2u);
}

TEST(DiskHook, is_told_of_every_change_before_it_happens) {
    Disk disk;
    std::string told;
    disk.set_hook([&](const Operation& operation) {
        told += std::string(to_string(operation.kind)) + " " + std::string(operation.path);
        if (!operation.to.empty()) told += ">" + std::string(operation.to);
        told += " " + std::to_string(disk.files().size()) + "\n";
    });

    ASSERT_TRUE(disk.make_directory("d").ok());
    {
        const auto file = open(disk, "d/a", OpenMode::create);
        ASSERT_TRUE(file->write(0, as_bytes("x")).ok());
        ASSERT_TRUE(file->sync().ok());
        ASSERT_TRUE(file->truncate(0).ok());
        std::byte buffer[1];
        ASSERT_TRUE(file->read(0, buffer).ok());
    }
    ASSERT_TRUE(disk.list("d").ok());
    ASSERT_TRUE(disk.rename("d/a", "d/b").ok());
    ASSERT_TRUE(disk.sync_directory("d").ok());
    ASSERT_TRUE(disk.remove("d/b").ok());

    EXPECT_EQ(told,
              "make_directory d 0\ncreate d/a 0\nwrite d/a 1\nsync d/a 1\ntruncate d/a 1\n"
              "rename d/a>d/b 1\nsync_directory d 1\nremove d/b 1\n");
    EXPECT_EQ(disk.operations(), 8u);
}

TEST(DiskHook, may_take_images) {
    Disk disk;
    Random random(1);
    std::vector<std::optional<std::string>> texts;
    disk.set_hook(
        [&](const Operation&) { texts.push_back(text_in(*disk.crash(random, drop_all), "a")); });

    make_durable(disk, "a", "x");
    ASSERT_TRUE(disk.remove("a").ok());

    // Before create, write, sync, sync_directory and remove.
    EXPECT_EQ(texts, (std::vector<std::optional<std::string>>{std::nullopt, std::nullopt,
                                                              std::nullopt, std::nullopt, "x"}));
}

TEST(DiskDeathTest, ends_the_process_when_misused) {
    EXPECT_DEATH(
        {
            auto disk = std::make_unique<Disk>();
            const auto file = open(*disk, "a", OpenMode::create);
            disk.reset();
        },
        "files end before their disk");
    EXPECT_DEATH(
        {
            Disk disk;
            disk.set_hook([&](const Operation&) { (void)disk.make_directory("again"); });
            (void)disk.make_directory("d");
        },
        "the hook must not use the disk");
}

}  // namespace
}  // namespace evenkeel::io::sim
