#include "checkpoint/memory/store.h"

#include <chrono>
#include <optional>

#include <gtest/gtest.h>

#include "io/sim/scheduler.h"
#include "support/seed.h"

namespace evenkeel::checkpoint {
namespace {

using namespace std::chrono_literals;

const GroupName memory_group{"localhost", "homes", "$Default"};

TEST(MemoryStore, clients_on_many_loops_share_one_server) {
    io::sim::Scheduler world(test::test_seed());
    MemoryServer server(world.clock());
    io::sim::SimLoop loop_a(world, "a"), loop_b(world, "b");
    MemoryStore a(loop_a, server, memory_group), b(loop_b, server, memory_group);

    std::optional<Result<std::string>> written;
    loop_a.post([&] {
        a.write_member({.id = "a", .incarnation = "1"}, [&](auto result) { written = result; });
        EXPECT_FALSE(written) << "answered within the call";
    });
    world.run_until_idle();
    std::vector<Member> listed;
    loop_b.post([&] { b.list_members([&](auto result) { listed = *result; }); });
    world.run_until_idle();

    ASSERT_TRUE(written && written->ok());
    ASSERT_EQ(listed.size(), 1u);
    EXPECT_EQ(listed[0].version, **written);
    EXPECT_EQ(server.snapshot(memory_group).members({}).size(), 1u);
}

TEST(MemoryStore, a_destroyed_store_answers_no_more) {
    io::sim::Scheduler world(test::test_seed());
    MemoryServer server(world.clock());
    io::sim::SimLoop loop(world, "a");
    auto store = std::make_unique<MemoryStore>(loop, server, memory_group);
    bool answered = false;

    store->list_members([&](auto) { answered = true; });
    store->write_member({.id = "a", .incarnation = "1"}, [&](auto) { answered = true; });
    store.reset();
    world.run_until_idle();

    EXPECT_FALSE(answered);
}

TEST(MemoryStore, ages_are_cut_to_whole_seconds_where_asked) {
    io::sim::Scheduler world(test::test_seed());
    MemoryServer server(world.clock(), {.whole_seconds = true});
    io::sim::SimLoop loop(world, "a");
    MemoryStore store(loop, server, memory_group);

    world.run_for(900ms);
    store.write_member({.id = "a", .incarnation = "1"}, [](auto) {});
    world.run_for(200ms);
    std::vector<Member> listed;
    store.list_members([&](auto result) { listed = *result; });
    world.run_until_idle();

    ASSERT_EQ(listed.size(), 1u);
    EXPECT_EQ(listed[0].age, Duration(1s)) << "0.9 s and 1.1 s are reported as 0 and 1";
    EXPECT_FALSE(listed[0].is_age_exact);
}

TEST(MemoryStore, watchers_of_the_group_hear_of_others_writes_only) {
    io::sim::Scheduler world(test::test_seed());
    MemoryServer server(world.clock());
    io::sim::SimLoop loop(world, "a");
    MemoryStore a(loop, server, memory_group), b(loop, server, memory_group);
    MemoryStore other(loop, server, {"localhost", "homes", "other"});
    int heard_a = 0, heard_b = 0, heard_other = 0;
    ASSERT_TRUE(a.watch([&] { ++heard_a; }));
    ASSERT_TRUE(b.watch([&] { ++heard_b; }));
    ASSERT_TRUE(other.watch([&] { ++heard_other; }));

    a.write_ownerships({{.partition = {0}, .owner = "a", .epoch = {1}}}, [](auto) {});
    a.write_checkpoint({.partition = {0}, .sequence = {5}, .epoch = {1}}, [](auto) {});
    world.run_until_idle();

    EXPECT_EQ(heard_a, 0);
    EXPECT_EQ(heard_b, 1);
    EXPECT_EQ(heard_other, 0);
}

TEST(MemoryStore, a_watch_that_ended_is_silent) {
    io::sim::Scheduler world(test::test_seed());
    MemoryServer server(world.clock());
    io::sim::SimLoop loop(world, "a");
    MemoryStore a(loop, server, memory_group);
    auto b = std::make_unique<MemoryStore>(loop, server, memory_group);
    int heard = 0;
    b->watch([&] { ++heard; });

    a.write_member({.id = "a", .incarnation = "1"}, [](auto) {});
    b->watch({});
    world.run_until_idle();
    b->watch([&] { ++heard; });
    a.write_member({.id = "c", .incarnation = "1"}, [](auto) {});
    b.reset();
    world.run_until_idle();

    EXPECT_EQ(heard, 0);
}

}  // namespace
}  // namespace evenkeel::checkpoint
