#include "checkpoint/open.h"

#include <gtest/gtest.h>

#include "io/system/loop.h"
#include "support/temporary_directory.h"

namespace evenkeel::checkpoint {
namespace {

const GroupName group{"localhost", "homes", "$Default"};

TEST(OpenStore, an_unknown_kind_gets_the_list_of_kinds_and_keeps_secrets) {
    io::system::LoopThread loop("client");
    const auto store = open_store("mysql://user:secret@host/db", group, loop);
    ASSERT_FALSE(store);
    EXPECT_EQ(to_string(store.error()),
              "invalid_argument: unknown kind of checkpoint store 'mysql'; a checkpoint store is "
              "one of: sqlite:FILE, postgresql://HOST/DATABASE, redis://HOST, "
              "azblob:CONNECTION-STRING;Container=NAME, memory:NAME");
    EXPECT_FALSE(open_store("", group, loop));
    EXPECT_FALSE(open_store("progress.db", group, loop));
    EXPECT_FALSE(open_store(":", group, loop));
    EXPECT_FALSE(open_store("sqlite:", group, loop));
}

TEST(OpenStore, memory_is_shared_by_name_within_the_process) {
    io::system::LoopThread loop("client");
    const auto a = open_store("memory:OpenStore", group, loop);
    const auto b = open_store("memory:OpenStore", group, loop);
    const auto c = open_store("memory:", group, loop);
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
    const auto store = open_store("sqlite:" + directory.path() + "/a.db", group, loop);
    ASSERT_TRUE(store) << to_string(store.error());
    EXPECT_NE((*store)->transactions(), nullptr);
}

}  // namespace
}  // namespace evenkeel::checkpoint
