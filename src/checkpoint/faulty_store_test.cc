#include "checkpoint/faulty_store.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>

#include <gtest/gtest.h>

#include "checkpoint/memory/store.h"
#include "io/sim/scheduler.h"
#include "support/seed.h"

namespace evenkeel::checkpoint {
namespace {

using namespace std::chrono_literals;

const GroupName faulty_group{"localhost", "homes", "$Default"};

struct FaultyStoreWorld : testing::Test {
    std::unique_ptr<FaultyStore> client(io::sim::SimLoop& on) {
        return std::make_unique<FaultyStore>(
            on, server_loop, std::make_shared<MemoryStore>(server_loop, server, faulty_group),
            faults, world.fork_random());
    }
    std::vector<Member> members() {
        return server.snapshot(faulty_group).members({world.now(), {}});
    }

    io::sim::Scheduler world{test::test_seed()};
    MemoryServer server{world.clock()};
    io::sim::SimLoop server_loop{world, "store"};
    io::sim::SimLoop loop{world, "a"};
    Faults faults;
    const Member me{.id = "me", .incarnation = "1"};
};

TEST_F(FaultyStoreWorld, applies_between_the_two_halves_of_a_round_trip) {
    faults = {.write_half = 5ms, .spread_percent = 0, .slow_per_thousand = 0};
    const auto store = client(loop);
    std::optional<Result<std::string>> answer;

    store->write_member(me, [&](auto result) { answer = result; });
    world.run_for(4ms);
    EXPECT_TRUE(members().empty());
    world.run_for(2ms);
    EXPECT_EQ(members().size(), 1u);
    EXPECT_FALSE(answer);
    world.run_for(5ms);

    ASSERT_TRUE(answer);
    EXPECT_TRUE(answer->ok());
}

TEST_F(FaultyStoreWorld, a_request_on_its_way_is_applied_though_its_client_is_gone) {
    auto store = client(loop);
    bool answered = false;

    store->write_member(me, [&](auto) { answered = true; });
    store.reset();
    loop.discard();
    world.run_for(1s);

    EXPECT_EQ(members().size(), 1u);
    EXPECT_FALSE(answered);
}

TEST_F(FaultyStoreWorld, answers_wait_for_a_paused_client) {
    const auto store = client(loop);
    std::optional<Instant> answered;
    store->write_member(me, [&](auto) { answered = world.now(); });
    world.run_for(0s);
    const Instant paused = world.now();

    loop.pause(10s);
    world.run_for(9s);
    EXPECT_EQ(members().size(), 1u);
    EXPECT_FALSE(answered);
    world.run_for(2s);

    ASSERT_TRUE(answered);
    EXPECT_EQ(*answered, paused + 10s);
}

TEST_F(FaultyStoreWorld, a_lost_answer_was_applied_and_a_refused_request_was_not) {
    const auto store = client(loop);
    std::optional<Result<std::string>> answer;

    faults.refused_per_thousand = 1000;
    store->write_member(me, [&](auto result) { answer = result; });
    world.run_for(1s);
    ASSERT_TRUE(answer && !answer->ok());
    EXPECT_EQ(answer->error().code, ErrorCode::unavailable);
    EXPECT_TRUE(members().empty());

    faults.refused_per_thousand = 0;
    faults.lost_per_thousand = 1000;
    store->write_member(me, [&](auto result) { answer = result; });
    world.run_for(1s);
    ASSERT_TRUE(answer && !answer->ok());
    EXPECT_EQ(answer->error().code, ErrorCode::timed_out);
    EXPECT_EQ(members().size(), 1u);
}

TEST_F(FaultyStoreWorld, an_outage_fails_at_once_and_what_arrives_in_it) {
    const auto store = client(loop);
    int failed = 0;
    const auto count = [&](const auto& result) {
        failed += !result.ok() && result.error().code == ErrorCode::unavailable;
    };

    store->write_member(me, count);
    faults.outage = true;
    store->list_members(count);
    world.run_for(0s);
    EXPECT_EQ(failed, 1);
    world.run_for(1s);

    EXPECT_EQ(failed, 2);
    EXPECT_TRUE(members().empty());
}

TEST_F(FaultyStoreWorld, ownership_writes_fail_each_for_itself) {
    faults.lost_per_thousand = faults.refused_per_thousand = faults.conflict_per_thousand = 150;
    const auto store = client(loop);
    std::vector<Ownership> wanted;
    for (std::uint32_t p = 0; p < 64; ++p) {
        wanted.push_back({.partition = {p}, .owner = "me", .epoch = {1}});
    }
    std::optional<Result<std::vector<Result<std::string>>>> answer;

    while (!answer || !answer->ok()) {  // until an exchange as a whole gets through
        store->write_ownerships(wanted, [&](auto result) { answer = std::move(result); });
        world.run_for(1s);
    }

    const auto stored = server.snapshot(faulty_group).ownerships({world.now(), {}});
    ASSERT_EQ((*answer)->size(), wanted.size());
    std::size_t applied = 0, good = 0, lost = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const Result<std::string>& result = (**answer)[i];
        const bool is_stored =
            std::ranges::any_of(stored, [&](const Ownership& o) { return o.partition.value == i; });
        applied += is_stored;
        good += result.ok();
        lost += !result.ok() && result.error().code == ErrorCode::timed_out;
        if (result.ok()) {
            EXPECT_TRUE(is_stored) << i;
        }
    }
    EXPECT_GE(applied, good);
    EXPECT_GT(lost, 0u);
}

TEST_F(FaultyStoreWorld, push_tells_other_clients_after_a_while) {
    faults.push = true;
    faults.slow_per_thousand = 0;
    io::sim::SimLoop other(world, "b");
    const auto a = client(loop);
    const auto b = client(other);
    std::optional<Instant> heard;
    ASSERT_TRUE(b->watch([&] { heard = world.now(); }));
    world.run_for(1ms);
    const Instant written = world.now();

    a->write_member(me, [](auto) {});
    world.run_for(1s);

    ASSERT_TRUE(heard);
    EXPECT_GE(*heard - written, Duration(6ms));
    EXPECT_LE(*heard - written, Duration(22ms));
}

TEST_F(FaultyStoreWorld, one_seed_gives_one_schedule) {
    const auto run = [](std::uint64_t seed) {
        io::sim::Scheduler again(seed);
        MemoryServer state(again.clock());
        io::sim::SimLoop remote(again, "store"), here(again, "a");
        const Faults bad{.refused_per_thousand = 100, .lost_per_thousand = 100};
        FaultyStore store(here, remote, std::make_shared<MemoryStore>(remote, state, faulty_group),
                          bad, again.fork_random());
        for (int i = 0; i < 50; ++i) store.list_members([](auto) {});
        again.run_until_idle();
        return again.trace_hash();
    };
    const std::uint64_t seed = test::test_seed();

    EXPECT_EQ(run(seed), run(seed));
    EXPECT_NE(run(seed), run(seed + 1));
}

}  // namespace
}  // namespace evenkeel::checkpoint
