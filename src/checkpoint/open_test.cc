#include "checkpoint/open.h"

#include <unistd.h>

#include <gtest/gtest.h>

#include "io/system/loop.h"
#include "support/temporary_directory.h"

namespace evenkeel::checkpoint {
namespace {

const GroupName opened_group{"localhost", "homes", "$Default"};

TEST(OpenStore, an_unknown_kind_gets_the_list_of_kinds_and_keeps_secrets) {
    io::system::LoopThread loop("client");
    const auto store = open_store("mysql://user:secret@host/db", opened_group, loop);
    ASSERT_FALSE(store);
    EXPECT_EQ(to_string(store.error()),
              "invalid_argument: unknown kind of checkpoint store 'mysql'; a checkpoint store is "
              "one of: sqlite:FILE, postgresql://HOST/DATABASE, redis://HOST, "
              "azblob:CONNECTION-STRING;Container=NAME, memory:NAME");
    EXPECT_FALSE(open_store("", opened_group, loop));
    EXPECT_FALSE(open_store("progress.db", opened_group, loop));
    EXPECT_FALSE(open_store(":", opened_group, loop));
    EXPECT_FALSE(open_store("sqlite:", opened_group, loop));
}

TEST(OpenStore, memory_is_shared_by_name_within_the_process) {
    io::system::LoopThread loop("client");
    const auto a = open_store("memory:OpenStore", opened_group, loop);
    const auto b = open_store("memory:OpenStore", opened_group, loop);
    const auto c = open_store("memory:", opened_group, loop);
    ASSERT_TRUE(a && b && c);
    std::size_t in_b = 0, in_c = 0;

    loop.start();
    io::system::run_and_wait(loop, [&] {
        (*a)->write_member({.id = "x", .incarnation = "1"}, [](auto) {});
        (*b)->list_members([&](auto listed) { in_b = listed->size(); });
        (*c)->list_members([&](auto listed) { in_c = listed->size(); });
    });
    io::system::run_and_wait(loop, [] {});
    loop.stop();

    EXPECT_EQ(in_b, 1u);
    EXPECT_EQ(in_c, 0u);
}

TEST(OpenStore, sqlite_opens_the_file_behind_the_colon) {
    const test::TemporaryDirectory directory;
    io::system::LoopThread loop("client");
    const auto store = open_store("sqlite:" + directory.path() + "/a.db", opened_group, loop);
    ASSERT_TRUE(store) << to_string(store.error());
    EXPECT_NE((*store)->transactions(), nullptr);
}

TEST(OpenStore, sqlite_that_may_not_create_leaves_what_is_there_as_it_is) {
    const test::TemporaryDirectory directory;
    const std::string file = directory.path() + "/a.db", url = "sqlite:" + file;
    io::system::LoopThread loop("client");
    const OpenOptions looking{.may_create = false};

    const auto without_file = open_store(url, opened_group, loop, looking);
    const bool is_made = ::access(file.c_str(), F_OK) == 0;
    ASSERT_TRUE(open_store(url, {"localhost", "homes", "other"}, loop));
    const auto without_group = open_store(url, opened_group, loop, looking);
    const auto still_without_group = open_store(url, opened_group, loop, looking);
    ASSERT_TRUE(open_store(url, opened_group, loop));
    const auto with_all = open_store(url, opened_group, loop, looking);

    ASSERT_TRUE(without_file) << to_string(without_file.error());
    EXPECT_EQ(*without_file, nullptr);
    EXPECT_FALSE(is_made);
    EXPECT_EQ(*without_group, nullptr);
    EXPECT_EQ(*still_without_group, nullptr);
    EXPECT_NE(*with_all, nullptr);
}

}  // namespace
}  // namespace evenkeel::checkpoint
