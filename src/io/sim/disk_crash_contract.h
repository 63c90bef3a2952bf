// What the simulated disk forgets and tears: invariants DISK-1, DISK-2, DISK-3, DISK-4, DISK-5 and
// DISK-7. Part of disk_test.cc, which alone includes it.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "io/sim/disk_fixture.h"
#include "support/seed.h"

namespace evenkeel::io::sim {
namespace {

// Whether some crash with `policy` gives a disk of which `is_wanted` is true.
template <typename Wanted>
bool may_give(const Disk& disk, CrashPolicy policy, Wanted is_wanted) {
    Random random(test::test_seed());
    for (int i = 0; i < 2000; ++i) {
        const auto image = disk.crash(random, policy);
        if (is_wanted(*image)) return true;
    }
    return false;
}

TEST(DiskCrash, synced_files_survive_every_policy) {
    Disk disk;
    Random random(test::test_seed());
    ASSERT_TRUE(disk.make_directory("d").ok());
    make(disk, "d/a", random_text(random, 5000));
    sync(disk, "d/a");
    sync_folder(disk, "d");
    sync_folder(disk, "/");
    const auto before = all_of(disk);
    EXPECT_EQ(disk.pending(), 0u);

    for (const CrashPolicy policy : policies) {
        for (int i = 0; i < 100; ++i) EXPECT_EQ(all_of(*disk.crash(random, policy)), before);
    }
}

TEST(DiskCrash, drop_all_takes_all_that_was_not_synced) {
    Disk disk;
    Random random(1);
    make_durable(disk, "a", "old");
    write(disk, "a", 0, "new and longer");
    make(disk, "b", "b");

    const auto image = disk.crash(random, drop_all);

    EXPECT_EQ(all_of(*image), (std::map<std::string, std::string>{{"a", "old"}}));
}

TEST(DiskCrash, keep_all_takes_nothing) {
    Disk disk;
    Random random(1);
    make_durable(disk, "a", "old");
    write(disk, "a", 0, "new and longer");
    make(disk, "b", "b");
    const auto before = all_of(disk);

    EXPECT_EQ(all_of(*disk.crash(random, keep_all)), before);
}

TEST(DiskCrash, an_image_has_nothing_pending_and_changes_by_itself) {
    Disk disk;
    Random random(test::test_seed());
    make_durable(disk, "a", "old");
    make_durable(disk, "b", "both");
    write(disk, "a", 0, "new");
    const auto image = disk.crash(random, any);
    EXPECT_EQ(image->pending(), 0u);

    write(*image, "a", 0, "ours");
    write(*image, "b", 0, "ours");
    EXPECT_EQ(text_in(disk, "a"), "new");
    EXPECT_EQ(text_in(disk, "b"), "both");
    EXPECT_TRUE(disk.remove("b").ok());
    EXPECT_EQ(text_in(*image, "b"), "ours");
}

TEST(DiskCrash, the_same_random_gives_the_same_image) {
    Disk disk;
    Random random(test::test_seed());
    for (int i = 0; i < 8; ++i) make(disk, std::to_string(i), random_text(random, 3000));
    const auto seed = random.next();

    for (std::uint64_t i = 0; i < 50; ++i) {
        Random first(seed + i);
        Random second(seed + i);
        EXPECT_EQ(all_of(*disk.crash(first)), all_of(*disk.crash(second)));
    }
}

TEST(DiskCrash, a_write_is_kept_by_sectors_each_by_itself) {
    Disk disk;
    make_durable(disk, "a", std::string(3 * sector, 'o'));
    write(disk, "a", 0, std::string(3 * sector, 'n'));

    const auto gives = [&](const std::string& wanted) {
        return may_give(disk, random_subset, [&](Disk& image) {
            const std::string text = *text_in(image, "a");
            return std::string{text[0], text[sector], text[2 * sector]} == wanted;
        });
    };
    for (const char* wanted : {"ooo", "noo", "ono", "oon", "nno", "onn", "non", "nnn"}) {
        EXPECT_TRUE(gives(wanted)) << wanted;
    }
}

TEST(DiskCrash, a_later_write_may_survive_without_an_earlier_one) {
    Disk disk;
    make_durable(disk, "a", "");
    write(disk, "a", 0, std::string(sector, '1'));
    write(disk, "a", sector, std::string(sector, '2'));

    EXPECT_TRUE(may_give(disk, random_subset, [](Disk& image) {
        return text_in(image, "a") == std::string(sector, '\0') + std::string(sector, '2');
    }));
}

TEST(DiskCrash, a_truncation_may_be_lost_or_kept) {
    Disk disk;
    make_durable(disk, "a", "hello");
    ASSERT_TRUE(open(disk, "a")->truncate(2).ok());

    const auto has = [](const char* text) {
        return [text](Disk& image) { return text_in(image, "a") == text; };
    };
    EXPECT_TRUE(may_give(disk, random_subset, has("hello")));
    EXPECT_TRUE(may_give(disk, random_subset, has("he")));
    EXPECT_TRUE(may_give(disk, prefix, has("hello")));
    EXPECT_TRUE(may_give(disk, prefix, has("he")));
}

TEST(DiskCrash, a_file_may_have_grown_without_its_bytes) {
    Disk disk;
    Random random(test::test_seed());
    make_durable(disk, "a", "head");
    write(disk, "a", 4, std::string(2 * sector, 'n'));

    bool all_zeros = false;
    for (int i = 0; i < 500; ++i) {
        const std::string text = *text_in(*disk.crash(random, grown_with_zeros), "a");
        EXPECT_EQ(text.size(), 4 + 2 * sector);
        EXPECT_EQ(text.substr(0, 4), "head");
        EXPECT_EQ(text.find_first_not_of(std::string("n\0", 2), 4), std::string::npos);
        all_zeros |= text.find('n') == std::string::npos;
    }
    EXPECT_TRUE(all_zeros);
}

TEST(DiskCrash, growing_with_zeros_never_clears_what_was_synced) {
    Disk disk;
    Random random(test::test_seed());
    make_durable(disk, "a", std::string(2 * sector, 'o'));
    write(disk, "a", 0, std::string(2 * sector, 'n'));

    for (int i = 0; i < 500; ++i) {
        const std::string text = *text_in(*disk.crash(random, grown_with_zeros), "a");
        EXPECT_EQ(text.find('\0'), std::string::npos);
    }
}

TEST(DiskCrash, a_prefix_keeps_all_before_one_moment_across_files_and_names) {
    Disk disk;
    Random random(test::test_seed());
    make_durable(disk, "a", "");
    make_durable(disk, "b", "");
    const std::string block(2 * sector, 'x');
    write(disk, "a", 0, block);           // 1
    write(disk, "b", 0, block);           // 2
    make(disk, "c", block);               // 3, 4
    write(disk, "a", 2 * sector, block);  // 5

    std::set<std::size_t> seen;
    for (int i = 0; i < 1000; ++i) {
        const auto image = disk.crash(random, prefix);
        const auto a = image->file_size("a");
        const auto b = image->file_size("b");
        const auto c = text_in(*image, "c").value_or("none");
        EXPECT_TRUE(b == 0 || a >= 2 * sector);
        EXPECT_TRUE(c == "none" || b == 2 * sector);
        EXPECT_TRUE(a <= 2 * sector || c == block);
        for (const auto size : {a, b}) EXPECT_EQ(size % sector, 0u);
        seen.insert(a + b);
    }
    // Every moment was drawn, the torn ones too: 0 to 8 sectors in a and b, c counted in neither.
    EXPECT_EQ(seen.size(), 7u);
}

TEST(DiskCrash, any_draws_from_all_policies) {
    Disk disk;
    make_durable(disk, "a", "");
    write(disk, "a", 0, std::string(4 * sector, 'n'));

    const auto text_is = [](const std::string& wanted) {
        return [wanted](Disk& image) { return text_in(image, "a") == wanted; };
    };
    EXPECT_TRUE(may_give(disk, any, text_is("")));
    EXPECT_TRUE(may_give(disk, any, text_is(std::string(4 * sector, 'n'))));
    EXPECT_TRUE(may_give(disk, any, text_is(std::string(4 * sector, '\0'))));
    EXPECT_TRUE(may_give(disk, any, text_is(std::string(3 * sector, 'n'))));
}

TEST(DiskNames, a_new_name_may_be_lost_with_its_synced_content) {
    Disk disk;
    make(disk, "a", "synced");
    sync(disk, "a");

    EXPECT_TRUE(may_give(disk, random_subset, [](Disk& i) { return !text_in(i, "a"); }));
    EXPECT_TRUE(may_give(disk, random_subset, [](Disk& i) { return text_in(i, "a") == "synced"; }));
}

TEST(DiskNames, a_synced_name_may_show_lost_content) {
    Disk disk;
    Random random(1);
    make(disk, "a", "not synced");
    sync_folder(disk, "");

    EXPECT_EQ(text_in(*disk.crash(random, drop_all), "a"), "");
}

TEST(DiskNames, a_file_is_lost_with_a_folder_above_it) {
    Disk disk;
    Random random(1);
    ASSERT_TRUE(disk.make_directory("d").ok());
    make_durable(disk, "d/a", "synced", "d");

    EXPECT_EQ(disk.crash(random, drop_all)->files(), std::vector<std::string>{});
    sync_folder(disk, "");
    EXPECT_EQ(text_in(*disk.crash(random, drop_all), "d/a"), "synced");
}

TEST(DiskNames, a_removed_name_may_come_back_with_its_durable_content) {
    Disk disk;
    Random random(1);
    make_durable(disk, "a", "old");
    write(disk, "a", 0, "new");
    ASSERT_TRUE(disk.remove("a").ok());

    EXPECT_EQ(text_in(*disk.crash(random, drop_all), "a"), "old");
    EXPECT_TRUE(may_give(disk, random_subset, [](Disk& image) { return !text_in(image, "a"); }));
    sync_folder(disk, "");
    EXPECT_EQ(disk.crash(random, drop_all)->files(), std::vector<std::string>{});
}

TEST(DiskNames, a_removed_tree_may_come_back) {
    Disk disk;
    Random random(1);
    ASSERT_TRUE(disk.make_directory("d").ok());
    make_durable(disk, "d/a", "a", "d");
    sync_folder(disk, "");

    ASSERT_TRUE(remove_tree(disk, "d").ok());
    EXPECT_EQ(text_in(*disk.crash(random, drop_all), "d/a"), "a");

    sync_folder(disk, "");
    EXPECT_EQ(disk.crash(random, drop_all)->files(), std::vector<std::string>{});
}

TEST(DiskNames, a_rename_is_old_or_new_but_never_both_or_neither) {
    Disk disk;
    Random random(test::test_seed());
    make_durable(disk, "a", "A");
    make_durable(disk, "b", "B");
    ASSERT_TRUE(disk.rename("a", "b").ok());

    const std::map<std::string, std::string> before = {{"a", "A"}, {"b", "B"}};
    const std::map<std::string, std::string> after = {{"b", "A"}};
    bool seen[2] = {};
    for (int i = 0; i < 500; ++i) {
        const auto all = all_of(*disk.crash(random, any));
        EXPECT_TRUE(all == before || all == after);
        seen[all == after] = true;
    }
    EXPECT_TRUE(seen[0] && seen[1]);
}

TEST(DiskNames, a_rename_may_be_kept_while_the_content_is_lost) {
    Disk disk;
    make_durable(disk, "meta", "old");
    make(disk, "meta.tmp", "new");
    ASSERT_TRUE(disk.rename("meta.tmp", "meta").ok());

    EXPECT_TRUE(may_give(disk, random_subset, [](Disk& i) { return text_in(i, "meta") == ""; }));
}

TEST(DiskNames, a_rename_whose_file_is_lost_does_nothing) {
    Disk disk;
    make_durable(disk, "meta", "old");
    make(disk, "meta.tmp", "new");
    sync(disk, "meta.tmp");
    ASSERT_TRUE(disk.rename("meta.tmp", "meta").ok());

    EXPECT_FALSE(may_give(disk, any, [](Disk& image) {
        const auto text = text_in(image, "meta");
        return text != "old" && text != "new";
    }));
}

TEST(DiskNames, folders_are_synced_by_themselves) {
    Disk disk;
    Random random(1);
    ASSERT_TRUE(disk.make_directory("d").ok());
    ASSERT_TRUE(disk.make_directory("e").ok());
    sync_folder(disk, "");
    make(disk, "d/a", "a");
    make(disk, "e/b", "b");
    sync(disk, "d/a");
    sync(disk, "e/b");

    sync_folder(disk, "d");

    EXPECT_EQ(disk.crash(random, drop_all)->files(), std::vector<std::string>{"d/a"});
}

TEST(DiskNames, syncing_either_folder_makes_a_move_durable) {
    for (const char* folder : {"d", "e"}) {
        Disk disk;
        Random random(test::test_seed());
        ASSERT_TRUE(disk.make_directory("d").ok());
        ASSERT_TRUE(disk.make_directory("e").ok());
        sync_folder(disk, "");
        make_durable(disk, "d/a", "a", "d");
        make(disk, "e/b", "replaced");
        ASSERT_TRUE(disk.rename("d/a", "e/b").ok());

        sync_folder(disk, folder);

        for (int i = 0; i < 100; ++i) {
            const auto image = disk.crash(random, any);
            EXPECT_EQ(all_of(*image), (std::map<std::string, std::string>{{"e/b", "a"}}));
        }
    }
}

TEST(DiskNames, a_name_made_again_shows_one_of_its_files) {
    Disk disk;
    Random random(test::test_seed());
    make_durable(disk, "a", "first");
    ASSERT_TRUE(disk.remove("a").ok());
    make(disk, "a", "second");
    sync(disk, "a");

    std::set<std::string> seen;
    for (int i = 0; i < 500; ++i) {
        seen.insert(text_in(*disk.crash(random, any), "a").value_or("none"));
    }
    EXPECT_EQ(seen, (std::set<std::string>{"first", "none", "second"}));
}

TEST(DiskKill, keeps_all_but_a_power_loss_afterwards_may_take_it) {
    Disk disk;
    Random random(1);
    make_durable(disk, "a", "old");
    write(disk, "a", 0, "new");
    make(disk, "b", "b");

    const auto next = disk.kill();
    EXPECT_EQ(all_of(*next), all_of(disk));
    EXPECT_EQ(next->pending(), disk.pending());

    EXPECT_EQ(all_of(*next->crash(random, drop_all)),
              (std::map<std::string, std::string>{{"a", "old"}}));
    sync(*next, "a");
    EXPECT_EQ(text_in(*next->crash(random, drop_all), "a"), "new");
    EXPECT_EQ(text_in(*disk.crash(random, drop_all), "a"), "old");
}

// What a byte of a file may be after a crash: all values it had since the last good sync.
class ByteModel {
public:
    void write(std::uint64_t position, std::string_view text) {
        const auto end = position + text.size();
        for (auto i = current_.size(); i < end; ++i) allow(i, '\0');
        if (end > current_.size()) current_.resize(end, '\0');
        for (std::size_t i = 0; i < text.size(); ++i) {
            current_[position + i] = text[i];
            allow(position + i, text[i]);
        }
        largest_ = std::max(largest_, current_.size());
    }
    void truncate(std::uint64_t size) {
        for (auto i = size; i < std::max(largest_, current_.size()); ++i) allow(i, '\0');
        for (auto i = current_.size(); i < size; ++i) allow(i, '\0');
        current_.resize(size, '\0');
        smallest_ = std::min(smallest_, current_.size());
        largest_ = std::max(largest_, current_.size());
    }
    void sync() {
        allowed_.clear();
        durable_ = current_;
        smallest_ = largest_ = durable_.size();
    }
    void check(const std::string& text) const {
        EXPECT_GE(text.size(), smallest_);
        EXPECT_LE(text.size(), largest_);
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (i < durable_.size() && text[i] == durable_[i]) continue;
            if (i >= durable_.size() && text[i] == '\0') continue;
            const auto found = allowed_.find(i);
            ASSERT_TRUE(found != allowed_.end() && found->second.count(text[i])) << "byte " << i;
        }
    }
    const std::string& current() const { return current_; }

private:
    void allow(std::size_t byte, char value) { allowed_[byte].insert(value); }

    std::string durable_;
    std::string current_;
    std::map<std::size_t, std::set<char>> allowed_;
    std::size_t smallest_ = 0;
    std::size_t largest_ = 0;
};

TEST(DiskProperty, each_byte_is_what_was_synced_or_written_since) {
    Random random(test::test_seed());
    for (int round = 0; round < 40; ++round) {
        Disk disk;
        ByteModel model;
        make_durable(disk, "a", "");
        const auto file = open(disk, "a");
        for (int step = 0; step < 30; ++step) {
            const auto choice = random.below(10);
            if (choice < 6) {
                const auto position = random.below(3000);
                const auto text = random_text(random, random.below(2000));
                ASSERT_TRUE(file->write(position, as_bytes(text)).ok());
                if (!text.empty()) model.write(position, text);
            } else if (choice < 8) {
                const auto size = random.below(6000);
                ASSERT_TRUE(file->truncate(size).ok());
                model.truncate(size);
            } else {
                ASSERT_TRUE(file->sync().ok());
                model.sync();
            }
            ASSERT_EQ(text_in(disk, "a"), model.current());
            for (const CrashPolicy policy : policies) {
                model.check(*text_in(*disk.crash(random, policy), "a"));
                if (HasFatalFailure()) return;
            }
        }
    }
}

TEST(DiskProperty, one_write_is_old_or_new_in_each_sector) {
    Random random(test::test_seed());
    for (int round = 0; round < 500; ++round) {
        Disk disk;
        const std::string old(random.below(4000), 'o');
        make_durable(disk, "a", old);
        const std::uint64_t position = random.below(old.size() + 1);
        const std::string fresh(1 + random.below(4000), 'n');
        write(disk, "a", position, fresh);

        const std::string text = *text_in(*disk.crash(random, any), "a");

        ASSERT_GE(text.size(), old.size());
        for (std::size_t start = 0; start < text.size(); start += sector) {
            std::set<char> written;  // the part of this sector that the write covers
            for (std::size_t i = start; i < std::min(start + sector, text.size()); ++i) {
                const bool covered = i >= position && i < position + fresh.size();
                EXPECT_TRUE(covered || text[i] == (i < old.size() ? 'o' : '\0'));
                if (covered && i < old.size()) written.insert(text[i]);
                if (covered && i >= old.size()) written.insert(text[i] == '\0' ? 'o' : text[i]);
            }
            EXPECT_LE(written.size(), 1u);
        }
    }
}

// Three folders, some files with contents that tell them apart, and changes of names at random.
TEST(DiskProperty, names_are_whole_and_last_once_all_is_synced) {
    Random random(test::test_seed());
    const std::vector<std::string> folders = {"", "d", "e"};
    const auto some_path = [&] {
        const auto& folder = folders[random.below(folders.size())];
        return (folder.empty() ? "" : folder + "/") + std::to_string(random.below(4));
    };
    for (int round = 0; round < 40; ++round) {
        Disk disk;
        ASSERT_TRUE(disk.make_directory("d").ok());
        ASSERT_TRUE(disk.make_directory("e").ok());
        sync_folder(disk, "");
        int made = 0;
        for (int step = 0; step < 60; ++step) {
            const auto choice = random.below(10);
            if (choice < 4) {
                const auto path = some_path();
                const auto file = disk.open(path, OpenMode::create);
                if (file.ok()) {
                    ASSERT_TRUE((*file)->write(0, as_bytes(std::to_string(++made))).ok());
                    ASSERT_TRUE((*file)->sync().ok());
                }
            } else if (choice < 7) {
                (void)disk.rename(some_path(), some_path());
            } else if (choice < 9) {
                (void)disk.remove(some_path());
            } else {
                sync_folder(disk, folders[random.below(folders.size())]);
            }
            for (int i = 0; i < 5; ++i) {
                std::set<std::string> contents;
                const auto image = disk.crash(random, any);
                for (const auto& [path, text] : all_of(*image)) {
                    EXPECT_TRUE(contents.insert(text).second) << "two names: " << text;
                    EXPECT_NE(text, "") << "synced, but lost: " << path;
                }
            }
            EXPECT_EQ(all_of(*disk.crash(random, keep_all)), all_of(disk));
        }
        for (const auto& folder : folders) sync_folder(disk, folder);
        EXPECT_EQ(disk.pending(), 0u);
        for (const CrashPolicy policy : policies) {
            EXPECT_EQ(all_of(*disk.crash(random, policy)), all_of(disk));
        }
    }
}

// A model of one file under syncs that fail now and then: what a crash must show.
TEST(DiskProperty, a_failed_sync_is_final) {
    Random random(test::test_seed());
    for (int round = 0; round < 200; ++round) {
        Disk disk;
        make_durable(disk, "a", "");
        const auto file = open(disk, "a");
        std::string durable;
        std::vector<std::pair<std::size_t, std::string>> since;
        for (int step = 0; step < 40; ++step) {
            if (random.chance(2, 3)) {
                since.emplace_back(random.below(200), random_text(random, 1 + random.below(50)));
                write(disk, "a", since.back().first, since.back().second);
                continue;
            }
            const bool fails = random.chance(1, 3);
            if (fails) disk.fail({.kind = OperationKind::sync});
            EXPECT_EQ(file->sync().ok(), !fails);
            for (const auto& [position, text] : since) {
                if (fails) continue;
                durable.resize(std::max(durable.size(), position + text.size()), '\0');
                durable.replace(position, text.size(), text);
            }
            since.clear();
            ASSERT_EQ(text_in(*disk.crash(random, drop_all), "a"), durable);
            ASSERT_EQ(text_in(*disk.crash(random, random_subset), "a"), durable);
        }
    }
}

}  // namespace
}  // namespace evenkeel::io::sim
