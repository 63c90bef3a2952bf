#include "door/auth/keys.h"

#include <fstream>

#include <gtest/gtest.h>

#include "base/format_version.h"
#include "io/sim/disk.h"
#include "support/paths.h"

namespace evenkeel::door {
namespace {

struct Folder {
    Folder() { EXPECT_TRUE(disk.make_directory("data").ok()); }
    Keys load() {
        auto keys = Keys::load(disk, "data");
        EXPECT_TRUE(keys.ok()) << (keys.ok() ? "" : keys.error().detail);
        return std::move(*keys);
    }
    io::sim::Disk disk;
};

TEST(Keys, are_none_in_a_new_folder_and_there_again_after_a_restart) {
    Folder folder;
    EXPECT_TRUE(folder.load().rules().empty());
    Keys keys = folder.load();

    const auto made = keys.create({.name = "app", .hub = "EH1", .rights = {.listen = true}});

    ASSERT_TRUE(made.ok());
    EXPECT_EQ(made->primary.reveal().size(), 44u);
    EXPECT_NE(made->primary.reveal(), made->secondary.reveal());
    const Keys again = folder.load();
    ASSERT_EQ(again.rules().size(), 1u);
    EXPECT_EQ(again.rules()[0].hub, "eh1");
    EXPECT_EQ(again.rules()[0].primary.reveal(), made->primary.reveal());
    EXPECT_TRUE(again.rules()[0].rights.listen);
    EXPECT_FALSE(again.rules()[0].rights.send);
}

TEST(Keys, rotate_one_and_keep_the_other) {
    Folder folder;
    Keys keys = folder.load();
    const auto before = keys.create({.name = "app", .rights = {.send = true}});

    const auto after = keys.rotate("app", "", KeyKind::primary);

    ASSERT_TRUE(after.ok());
    EXPECT_NE(after->primary.reveal(), before->primary.reveal());
    EXPECT_EQ(after->secondary.reveal(), before->secondary.reveal());
    EXPECT_EQ(folder.load().rules()[0].primary.reveal(), after->primary.reveal());
    EXPECT_EQ(keys.rotate("none", "", KeyKind::primary).error().code, ErrorCode::not_found);
}

TEST(Keys, are_removed_one_by_one_or_with_their_hub) {
    Folder folder;
    Keys keys = folder.load();
    EXPECT_TRUE(keys.create({.name = "a", .rights = {.send = true}}).ok());
    EXPECT_TRUE(keys.create({.name = "a", .hub = "eh1", .rights = {.send = true}}).ok());
    EXPECT_TRUE(keys.create({.name = "b", .hub = "eh1", .rights = {.send = true}}).ok());

    EXPECT_TRUE(keys.remove("a", "").ok());
    EXPECT_EQ(keys.rules().size(), 2u);
    EXPECT_TRUE(keys.remove_hub("EH1").ok());

    EXPECT_TRUE(folder.load().rules().empty());
    EXPECT_EQ(keys.remove("a", "").error().code, ErrorCode::not_found);
}

TEST(Keys, are_refused_when_they_make_no_sense) {
    Folder folder;
    Keys keys = folder.load();
    EXPECT_TRUE(keys.create({.name = "a", .rights = {.manage = true}}).ok());
    EXPECT_TRUE(keys.rules()[0].rights.send);
    const auto code = [&](const RuleWish& wish) { return keys.create(wish).error().code; };

    EXPECT_EQ(code({.name = "a", .rights = {.send = true}}), ErrorCode::already_exists);
    EXPECT_EQ(code({.name = "", .rights = {.send = true}}), ErrorCode::invalid_argument);
    EXPECT_EQ(code({.name = "a b", .rights = {.send = true}}), ErrorCode::invalid_argument);
    EXPECT_EQ(code({.name = "b"}), ErrorCode::invalid_argument);
    EXPECT_EQ(code({.name = "b", .hub = "..", .rights = {.send = true}}),
              ErrorCode::invalid_argument);
    EXPECT_EQ(code({.name = "b", .rights = {.send = true}, .primary = Secret("a;b")}),
              ErrorCode::invalid_argument);
    for (int i = 1; i < 12; ++i) {
        EXPECT_TRUE(keys.create({.name = "r" + std::to_string(i), .rights = {.send = true}}).ok());
    }
    EXPECT_EQ(code({.name = "r12", .rights = {.send = true}}), ErrorCode::invalid_argument);
    EXPECT_TRUE(keys.create({.name = "r12", .hub = "eh1", .rights = {.send = true}}).ok());
}

TEST(KeysFile, that_is_damaged_leaves_the_other_and_two_are_an_error) {
    Folder folder;
    Keys keys = folder.load();
    EXPECT_TRUE(keys.create({.name = "a", .rights = {.send = true}}).ok());
    const auto damage = [&](const char* name) {
        EXPECT_TRUE(
            io::replace_file(folder.disk, std::string("data/") + name, as_bytes("rot")).ok());
    };

    damage(keys_file_name);
    EXPECT_EQ(folder.load().rules().size(), 1u);
    damage(keys_copy_name);

    EXPECT_EQ(Keys::load(folder.disk, "data").error().code, ErrorCode::corrupt);
}

// AUTH-3
TEST(KeysFile, is_as_before_when_a_change_fails_half_way) {
    Folder folder;
    Keys keys = folder.load();
    EXPECT_TRUE(keys.create({.name = "a", .rights = {.send = true}}).ok());
    folder.disk.fail({.kind = io::sim::OperationKind::rename, .path_contains = "keys.copy"});

    EXPECT_FALSE(keys.create({.name = "b", .rights = {.send = true}}).ok());

    EXPECT_EQ(keys.rules().size(), 1u);
    EXPECT_EQ(folder.load().rules().size(), 1u);
}

TEST(KeysFile, is_read_from_the_copy_when_the_first_is_unreadable) {
    Folder folder;
    Keys keys = folder.load();
    EXPECT_TRUE(keys.create({.name = "a", .rights = {.send = true}}).ok());
    folder.disk.fail({.kind = io::sim::OperationKind::read, .path_contains = "keys"});

    EXPECT_EQ(folder.load().rules().size(), 1u);
}

TEST(KeysFile, of_version_1_is_read) {
    std::ifstream file(test::data_path("keys_v1"));
    const std::string text{std::istreambuf_iterator<char>(file), {}};

    const auto keys = decode_keys(text);

    ASSERT_TRUE(keys.ok()) << keys.error().detail;
    ASSERT_EQ(keys->rules.size(), 1u);
    EXPECT_EQ(keys->rules[0].primary.reveal(), "cHJpbWFyeQ");
    EXPECT_EQ(encode_keys(keys->generation, keys->rules), text);
}

TEST(KeysFile, of_a_newer_version_is_refused_also_beside_an_older_copy) {
    Folder folder;
    Keys keys = folder.load();
    EXPECT_TRUE(keys.create({.name = "a", .rights = {.send = true}}).ok());
    const std::string newer = format::framed("keys", 2, "{}");
    EXPECT_TRUE(io::replace_file(folder.disk, "data/keys.copy", as_bytes(newer)).ok());

    EXPECT_EQ(Keys::load(folder.disk, "data").error().code, ErrorCode::unsupported);
}

TEST(KeysFile, with_one_bit_changed_anywhere_is_not_good) {
    const std::string text = encode_keys(3, {{"a", "eh1", Secret("p"), {}, {true, false, false}}});
    EXPECT_TRUE(decode_keys(text).ok());
    for (std::size_t i = 0; i < text.size(); ++i) {
        std::string changed = text;
        changed[i] = static_cast<char>(changed[i] ^ 1);
        EXPECT_FALSE(decode_keys(changed).ok()) << i;
        EXPECT_FALSE(decode_keys(text.substr(0, i)).ok()) << i;
    }
}

}  // namespace
}  // namespace evenkeel::door
