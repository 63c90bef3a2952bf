// The contract of io::FileSystem, for the system's files and for the simulated disk, and the
// helpers over it.
#include "io/file.h"

#include <gtest/gtest.h>

#include "io/sim/disk.h"
#include "io/system/files.h"
#include "support/temporary_directory.h"

namespace evenkeel::io {
namespace {

enum class Kind { system, sim };

class FileContract : public testing::TestWithParam<Kind> {
protected:
    FileSystem& files() {
        if (GetParam() == Kind::sim) return disk_;
        return system_;
    }
    std::string at(const std::string& name) const {
        const std::string root = GetParam() == Kind::sim ? "" : directory_.path();
        return name.empty() ? root : root + "/" + name;
    }
    std::unique_ptr<File> open(const std::string& name, OpenMode mode) {
        return *files().open(at(name), mode);
    }
    void make(const std::string& name, std::string_view text) {
        EXPECT_TRUE(open(name, OpenMode::create)->write(0, as_bytes(text)).ok());
    }
    std::string text_in(const std::string& name) {
        return std::string(as_text(*read_file(files(), at(name), 1 << 20)));
    }
    ErrorCode open_error(const std::string& name, OpenMode mode) {
        return files().open(at(name), mode).error().code;
    }
    std::string listed(const std::string& name) {
        std::string names;
        const auto entries = files().list(at(name));
        for (const DirectoryEntry& entry : *entries) {
            names += entry.name + (entry.is_directory ? "/ " : " ");
        }
        return names;
    }

private:
    test::TemporaryDirectory directory_;
    system::SystemFiles system_;
    sim::Disk disk_;
};

INSTANTIATE_TEST_SUITE_P(Files, FileContract, testing::Values(Kind::system, Kind::sim),
                         [](const auto& kind) {
                             return kind.param == Kind::system ? "system" : "sim";
                         });

TEST_P(FileContract, a_missing_file_opens_only_to_be_created) {
    EXPECT_EQ(open_error("a", OpenMode::read), ErrorCode::not_found);
    EXPECT_EQ(open_error("a", OpenMode::write), ErrorCode::not_found);
    EXPECT_TRUE(files().open(at("a"), OpenMode::create).ok());
}

TEST_P(FileContract, an_existing_file_is_not_created_again) {
    make("a", "kept");

    EXPECT_EQ(open_error("a", OpenMode::create), ErrorCode::already_exists);
    EXPECT_EQ(text_in("a"), "kept");
}

TEST_P(FileContract, a_file_needs_its_folder) {
    make("file", "");

    EXPECT_EQ(open_error("missing/a", OpenMode::create), ErrorCode::not_found);
    EXPECT_EQ(open_error("file/a", OpenMode::create), ErrorCode::unavailable);
}

TEST_P(FileContract, a_folder_does_not_open_as_a_file) {
    ASSERT_TRUE(files().make_directory(at("folder")).ok());

    EXPECT_EQ(open_error("folder", OpenMode::read), ErrorCode::unavailable);
    EXPECT_EQ(open_error("folder", OpenMode::write), ErrorCode::unavailable);
    EXPECT_EQ(open_error("folder", OpenMode::create), ErrorCode::already_exists);
}

TEST_P(FileContract, a_file_opened_for_reading_refuses_changes) {
    make("a", "kept");
    const auto file = open("a", OpenMode::read);

    EXPECT_FALSE(file->write(0, as_bytes("lost")).ok());
    EXPECT_FALSE(file->truncate(0).ok());
    EXPECT_EQ(text_in("a"), "kept");
}

TEST_P(FileContract, an_error_names_call_and_path) {
    const auto opened = files().open(at("missing"), OpenMode::read);

    EXPECT_NE(opened.error().detail.find("open " + at("missing") + ": "), std::string::npos)
        << opened.error().detail;
}

TEST_P(FileContract, what_was_written_is_read_back_through_any_handle) {
    const auto writer = open("a", OpenMode::create);
    const auto reader = open("a", OpenMode::read);

    ASSERT_TRUE(writer->write(0, as_bytes("hello world")).ok());
    ASSERT_TRUE(writer->write(6, as_bytes("there")).ok());

    std::byte buffer[11];
    EXPECT_EQ(*reader->read(0, buffer), 11u);
    EXPECT_EQ(as_text(buffer), "hello there");
    EXPECT_EQ(*reader->size(), 11u);
}

TEST_P(FileContract, a_read_stops_at_the_end) {
    make("a", "hello");
    const auto file = open("a", OpenMode::read);

    std::byte buffer[10];
    EXPECT_EQ(*file->read(3, buffer), 2u);
    EXPECT_EQ(as_text(ByteView(buffer).first(2)), "lo");
    EXPECT_EQ(*file->read(5, buffer), 0u);
    EXPECT_EQ(*file->read(500, buffer), 0u);
    EXPECT_EQ(*file->read(0, {}), 0u);
}

TEST_P(FileContract, a_read_from_memory_gives_the_same_or_nothing) {
    make("a", "hello");
    const auto file = open("a", OpenMode::read);

    std::byte buffer[10];
    const std::size_t got = file->read_cached(1, buffer);
    EXPECT_EQ(as_text(ByteView(buffer).first(got)), std::string_view("ello").substr(0, got));
    EXPECT_EQ(file->read_cached(5, buffer), 0u);
    EXPECT_EQ(file->read_cached(500, buffer), 0u);
}

TEST_P(FileContract, a_gap_before_a_write_reads_as_zeros) {
    const auto file = open("a", OpenMode::create);

    ASSERT_TRUE(file->write(10'000, as_bytes("end")).ok());

    std::vector<std::byte> buffer(10'003, std::byte{1});
    EXPECT_EQ(*file->read(0, buffer), 10'003u);
    EXPECT_TRUE(std::all_of(buffer.begin(), buffer.begin() + 10'000,
                            [](std::byte b) { return b == std::byte{0}; }));
    EXPECT_EQ(as_text(ByteView(buffer).last(3)), "end");
}

TEST_P(FileContract, a_write_of_nothing_changes_nothing) {
    const auto file = open("a", OpenMode::create);

    EXPECT_TRUE(file->write(100, {}).ok());
    EXPECT_EQ(*file->size(), 0u);
}

TEST_P(FileContract, truncation_cuts_and_grows_with_zeros) {
    const auto file = open("a", OpenMode::create);
    ASSERT_TRUE(file->write(0, as_bytes("hello")).ok());

    ASSERT_TRUE(file->truncate(2).ok());
    EXPECT_EQ(*file->size(), 2u);
    ASSERT_TRUE(file->truncate(4).ok());
    EXPECT_EQ(text_in("a"), std::string("he\0\0", 4));
}

TEST_P(FileContract, a_synced_file_reads_the_same) {
    const auto file = open("a", OpenMode::create);
    ASSERT_TRUE(file->write(0, as_bytes("hello")).ok());

    EXPECT_TRUE(file->sync().ok());
    EXPECT_TRUE(file->sync().ok());
    EXPECT_TRUE(files().sync_directory(at("")).ok());
    EXPECT_EQ(text_in("a"), "hello");
}

TEST_P(FileContract, an_open_file_outlives_its_name) {
    make("a", "hello");
    const auto file = open("a", OpenMode::write);
    ASSERT_TRUE(files().remove(at("a")).ok());

    EXPECT_TRUE(file->write(5, as_bytes("!")).ok());
    EXPECT_TRUE(file->sync().ok());
    EXPECT_EQ(*file->size(), 6u);
    EXPECT_EQ(open_error("a", OpenMode::read), ErrorCode::not_found);
}

TEST_P(FileContract, a_folder_lists_its_entries_by_name) {
    ASSERT_TRUE(files().make_directory(at("d")).ok());
    ASSERT_TRUE(files().make_directory(at("d/m")).ok());
    make("d/z", "");
    make("d/a", "");
    make("d/10", "");
    make("d/9", "");

    EXPECT_EQ(listed("d"), "10 9 a m/ z ");
    EXPECT_EQ(listed("d/m"), "");
}

TEST_P(FileContract, only_folders_are_listed_and_synced) {
    make("a", "");

    EXPECT_EQ(files().list(at("missing")).error().code, ErrorCode::not_found);
    EXPECT_EQ(files().list(at("a")).error().code, ErrorCode::unavailable);
    EXPECT_EQ(files().sync_directory(at("missing")).error().code, ErrorCode::not_found);
    EXPECT_EQ(files().sync_directory(at("a")).error().code, ErrorCode::unavailable);
}

TEST_P(FileContract, a_folder_is_made_once_and_inside_another) {
    EXPECT_TRUE(files().make_directory(at("d")).ok());

    EXPECT_EQ(files().make_directory(at("d")).error().code, ErrorCode::already_exists);
    EXPECT_EQ(files().make_directory(at("missing/d")).error().code, ErrorCode::not_found);
}

TEST_P(FileContract, removes_files_and_empty_folders_only) {
    ASSERT_TRUE(files().make_directory(at("d")).ok());
    make("d/a", "");

    EXPECT_EQ(files().remove(at("d")).error().code, ErrorCode::unavailable);
    EXPECT_TRUE(files().remove(at("d/a")).ok());
    EXPECT_TRUE(files().remove(at("d")).ok());
    EXPECT_EQ(files().remove(at("d")).error().code, ErrorCode::not_found);
}

TEST_P(FileContract, a_rename_replaces_its_target) {
    make("new", "new");
    make("old", "old");

    EXPECT_TRUE(files().rename(at("new"), at("old")).ok());

    EXPECT_EQ(text_in("old"), "new");
    EXPECT_EQ(listed(""), "old ");
}

TEST_P(FileContract, a_rename_moves_files_and_whole_folders) {
    ASSERT_TRUE(files().make_directory(at("d")).ok());
    ASSERT_TRUE(files().make_directory(at("e")).ok());
    make("d/a", "a");

    EXPECT_TRUE(files().rename(at("d/a"), at("e/b")).ok());
    EXPECT_TRUE(files().rename(at("e"), at("d/e")).ok());

    EXPECT_EQ(text_in("d/e/b"), "a");
    EXPECT_EQ(listed(""), "d/ ");
}

TEST_P(FileContract, a_rename_to_its_own_name_changes_nothing) {
    make("a", "a");

    EXPECT_TRUE(files().rename(at("a"), at("a")).ok());
    EXPECT_EQ(text_in("a"), "a");
}

TEST_P(FileContract, impossible_renames_are_refused) {
    ASSERT_TRUE(files().make_directory(at("d")).ok());
    ASSERT_TRUE(files().make_directory(at("e")).ok());
    make("d/a", "a");
    make("f", "f");

    EXPECT_EQ(files().rename(at("missing"), at("x")).error().code, ErrorCode::not_found);
    EXPECT_EQ(files().rename(at("f"), at("missing/f")).error().code, ErrorCode::not_found);
    EXPECT_FALSE(files().rename(at("f"), at("d")).ok());      // a file over a folder
    EXPECT_FALSE(files().rename(at("e"), at("f")).ok());      // a folder over a file
    EXPECT_FALSE(files().rename(at("e"), at("d")).ok());      // over a folder with content
    EXPECT_FALSE(files().rename(at("d"), at("d/a/d")).ok());  // into itself
    EXPECT_EQ(listed(""), "d/ e/ f ");
}

TEST_P(FileContract, a_lock_is_held_by_one_until_it_ends) {
    auto held = files().lock(at("LOCK"));
    ASSERT_TRUE(held.ok());

    const auto second = files().lock(at("LOCK"));
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.error().code, ErrorCode::conflict);
    EXPECT_NE(second.error().detail.find(at("LOCK")), std::string::npos) << second.error().detail;
    EXPECT_TRUE(files().lock(at("OTHER")).ok());

    held->reset();
    EXPECT_TRUE(files().lock(at("LOCK")).ok());
}

TEST_P(FileContract, a_folder_is_locked_whatever_happens_to_files_in_it) {
    ASSERT_TRUE(files().make_directory(at("d")).ok());
    auto held = files().lock_folder(at("d"), at("d/LOCK"));
    ASSERT_TRUE(held.ok()) << held.error().detail;
    ASSERT_TRUE(files().lock(at("d/LOCK")).ok()) << "a lock of its own";
    ASSERT_TRUE(files().remove(at("d/LOCK")).ok());

    const auto second = files().lock_folder(at("d"), at("d/LOCK"));
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.error().code, ErrorCode::conflict);
    EXPECT_TRUE((*held)->check().ok());

    held->reset();
    EXPECT_TRUE(files().lock_folder(at("d"), at("d/LOCK")).ok());
    EXPECT_EQ(files().lock_folder(at("missing"), "").error().code, ErrorCode::not_found);
}

TEST_P(FileContract, a_lock_tells_when_its_file_was_removed_or_replaced) {
    ASSERT_TRUE(files().make_directory(at("d")).ok());
    const auto folder = files().lock_folder(at("d"), "");
    const auto file = files().lock(at("d/LOCK"));
    ASSERT_TRUE(folder.ok() && file.ok());
    EXPECT_TRUE((*file)->check().ok());

    ASSERT_TRUE(files().remove(at("d/LOCK")).ok());
    EXPECT_EQ((*file)->check().error().code, ErrorCode::fenced);
    make("d/LOCK", "1");
    EXPECT_EQ((*file)->check().error().code, ErrorCode::fenced);
    EXPECT_TRUE((*folder)->check().ok());
    ASSERT_TRUE(files().rename(at("d"), at("moved")).ok());
    EXPECT_EQ((*folder)->check().error().code, ErrorCode::fenced);
}

TEST_P(FileContract, free_space_is_told_for_what_exists) {
    EXPECT_GT(*files().free_bytes(at("")), 0u);
    EXPECT_EQ(files().free_bytes(at("missing")).error().code, ErrorCode::not_found);
}

TEST_P(FileContract, read_file_gives_all_of_it_and_refuses_more_than_expected) {
    make("a", "hello");

    EXPECT_EQ(as_text(*read_file(files(), at("a"), 5)), "hello");
    EXPECT_EQ(read_file(files(), at("a"), 4).error().code, ErrorCode::corrupt);
    EXPECT_EQ(read_file(files(), at("missing"), 4).error().code, ErrorCode::not_found);
}

TEST_P(FileContract, replace_file_makes_and_replaces) {
    EXPECT_TRUE(replace_file(files(), at("a"), as_bytes("first, and longer")).ok());
    EXPECT_EQ(text_in("a"), "first, and longer");

    EXPECT_TRUE(replace_file(files(), at("a"), as_bytes("second")).ok());
    EXPECT_EQ(text_in("a"), "second");
    EXPECT_EQ(listed(""), "a ");
}

TEST_P(FileContract, replace_file_is_not_stopped_by_what_a_crash_left) {
    make("a.tmp", "half of something longer than the new content");

    EXPECT_TRUE(replace_file(files(), at("a"), as_bytes("whole")).ok());
    EXPECT_EQ(text_in("a"), "whole");
    EXPECT_EQ(listed(""), "a ");
}

TEST_P(FileContract, remove_tree_removes_all_below) {
    ASSERT_TRUE(files().make_directory(at("d")).ok());
    ASSERT_TRUE(files().make_directory(at("d/e")).ok());
    make("d/a", "a");
    make("d/e/b", "b");
    make("kept", "");

    EXPECT_TRUE(remove_tree(files(), at("d")).ok());

    EXPECT_EQ(listed(""), "kept ");
    EXPECT_EQ(remove_tree(files(), at("d")).error().code, ErrorCode::not_found);
}

TEST(ReplaceFile, leaves_old_or_new_content_after_a_crash_at_any_step) {
    sim::Disk disk;
    ASSERT_TRUE(replace_file(disk, "meta", as_bytes("old")).ok());
    Random random(1);
    int images = 0;
    disk.set_hook([&](const sim::Operation&) {
        for (int i = 0; i < 100; ++i) {
            const auto image = disk.crash(random);
            const auto content = read_file(*image, "meta", 100);
            ASSERT_TRUE(content.ok());
            EXPECT_TRUE(as_text(*content) == "old" || as_text(*content) == "new");
            ++images;
        }
    });

    ASSERT_TRUE(replace_file(disk, "meta", as_bytes("new")).ok());

    EXPECT_EQ(images, 600);  // remove, create, write, sync, rename, sync_directory
    const auto after = disk.crash(random, sim::CrashPolicy::drop_all);
    EXPECT_EQ(as_text(*read_file(*after, "meta", 100)), "new");
}

TEST(ReplaceFile, gives_the_space_back_when_the_disk_is_full) {
    sim::Disk disk;
    ASSERT_TRUE(replace_file(disk, "meta", as_bytes("old")).ok());
    disk.set_capacity_bytes(10);

    const auto replaced = replace_file(disk, "meta", as_bytes("far too long for it"));

    EXPECT_EQ(replaced.error().code, ErrorCode::overloaded);
    EXPECT_EQ(disk.files(), std::vector<std::string>{"meta"});
    EXPECT_EQ(as_text(*read_file(disk, "meta", 100)), "old");
}

TEST(ReplaceFile, tells_of_a_failure_at_any_step) {
    using enum sim::OperationKind;
    for (const auto kind : {remove, create, write, sync, rename, sync_directory}) {
        sim::Disk disk;
        ASSERT_TRUE(replace_file(disk, "meta", as_bytes("old")).ok());
        disk.fail({.kind = kind});

        EXPECT_FALSE(replace_file(disk, "meta", as_bytes("new")).ok()) << sim::to_string(kind);
    }
}

}  // namespace
}  // namespace evenkeel::io
