// Whole processors on simulated loops: several of them share a hub and a store.
#include "processor/core.h"

#include <chrono>

#include <gtest/gtest.h>

#include "processor/core_fixture.h"

namespace evenkeel::processor {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Core, reads_all_partitions_alone) {
    World world;
    world.append(100);
    ASSERT_TRUE(world.start("a").ok());

    ASSERT_TRUE(world.run_until([&] { return world.seen.size() == 100 * partitions; }));
    world.scheduler.run_for(seconds(1));

    for (std::uint32_t p = 0; p < partitions; ++p) EXPECT_EQ(world.handled(p), up_to(99));
    EXPECT_EQ(world.nodes["a"]->core->status().events_handled, 100 * partitions);
}

TEST(Core, reports_a_needless_checkpoint_once_for_all_partitions) {
    World world;
    world.do_checkpoint = true;
    world.append(100);
    ASSERT_TRUE(world.start("a").ok());
    ASSERT_TRUE(world.run_until([&] { return world.seen.size() == 100 * partitions; }));
    world.scheduler.run_for(seconds(1));

    ASSERT_EQ(world.failures.size(), 1u);
    EXPECT_EQ(world.failures[0].scope, ErrorScope::checkpoint);
    EXPECT_EQ(world.failures[0].error.code, ErrorCode::unsupported);
    EXPECT_NE(world.failures[0].error.detail.find("automatic"), std::string::npos);
}

TEST(Core, hands_half_over_to_a_second_one_and_repeats_nothing) {
    World world;
    world.append(50);
    ASSERT_TRUE(world.start("a").ok());
    ASSERT_TRUE(world.run_until([&] { return world.owned("a") == partitions; }));
    ASSERT_TRUE(world.start("b").ok());
    ASSERT_TRUE(world.run_until([&] { return world.owned("b") == 2 && world.owned("a") == 2; }));

    world.append(50);
    ASSERT_TRUE(world.run_until([&] { return world.seen.size() >= 100 * partitions; }));
    world.scheduler.run_for(seconds(10));

    for (std::uint32_t p = 0; p < partitions; ++p) EXPECT_EQ(world.handled(p), up_to(99));
}

TEST(Core, stops_cleanly_and_another_goes_on_where_it_was) {
    World world;
    world.append(50);
    ASSERT_TRUE(world.start("a").ok());
    ASSERT_TRUE(world.run_until([&] { return world.seen.size() == 50 * partitions; }));

    EXPECT_TRUE(world.stop("a").is_clean);
    world.append(50);
    ASSERT_TRUE(world.start("b").ok());
    ASSERT_TRUE(world.run_until([&] { return world.seen.size() >= 100 * partitions; }));

    for (std::uint32_t p = 0; p < partitions; ++p) EXPECT_EQ(world.handled(p), up_to(99));
}

TEST(Core, takes_over_from_one_that_was_killed_and_loses_nothing) {
    World world;
    ASSERT_TRUE(world.start("a").ok());
    ASSERT_TRUE(world.start("b").ok());
    ASSERT_TRUE(world.run_until([&] { return world.owned("b") == 2 && world.owned("a") == 2; }));
    for (int i = 0; i < 20; ++i) {
        world.append(5);
        world.scheduler.run_for(milliseconds(100));
    }

    world.kill("a");
    world.append(10);
    ASSERT_TRUE(world.run_until([&] { return world.owned("b") == partitions; }, seconds(15)));
    world.scheduler.run_for(seconds(20));

    for (std::uint32_t p = 0; p < partitions; ++p) {
        const auto all = world.handled(p);
        const std::set<std::int64_t> distinct(all.begin(), all.end());
        EXPECT_EQ(distinct.size(), 110u) << "partition " << p;
    }
}

TEST(Core, reads_partitions_that_are_added) {
    World world;
    ASSERT_TRUE(world.start("a").ok());
    ASSERT_TRUE(world.run_until([&] { return world.owned("a") == partitions; }));

    world.hub.add_partitions(2);

    EXPECT_TRUE(world.run_until([&] { return world.owned("a") == partitions + 2; }));
}

TEST(Core, comes_back_after_a_store_that_did_not_even_answer) {
    World world;
    ASSERT_TRUE(world.start("a").ok());
    const auto is_leased = [&] { return world.nodes["a"]->core->coordinator().status().is_leased; };
    ASSERT_TRUE(world.run_until([&] { return world.owned("a") == partitions; }));

    world.faults.silent_per_thousand = 1000;
    ASSERT_TRUE(world.run_until([&] { return !is_leased(); }, seconds(30)));
    world.faults.silent_per_thousand = 0;
    world.append(10);

    EXPECT_TRUE(world.run_until(is_leased, seconds(30)));
    EXPECT_TRUE(world.run_until([&] { return world.seen.size() >= 10 * partitions; }));
    EXPECT_FALSE(world.failures.empty());
}

TEST(Core, ends_with_a_poisonous_event_if_told_to) {
    World world;
    world.options.poison = Poison::stop;
    world.options.retry = {.attempts_max = 2, .delay = milliseconds(10)};
    world.poison = 3;
    world.append(5);
    ASSERT_TRUE(world.start("a").ok());

    ASSERT_TRUE(world.run_until([&] { return world.ended.has_value(); }));

    EXPECT_NE(world.ended->detail.find("poison"), std::string::npos);
    EXPECT_EQ(world.owned("a"), 0u);
}

TEST(Core, waits_while_people_pause_it_and_repeats_nothing) {
    World world;
    world.write({std::string(pause_key), "1"});
    world.append(50);
    ASSERT_TRUE(world.start("a").ok());
    ASSERT_TRUE(world.run_until([&] { return world.seen.size() == 50 * (partitions - 1); }));
    world.scheduler.run_for(seconds(20));
    EXPECT_TRUE(world.handled(1).empty());
    EXPECT_EQ(world.nodes["a"]->core->status().partitions.at(1).state, "paused");

    world.write({std::string(pause_key), "all"});
    world.scheduler.run_for(seconds(10));
    world.append(50);
    world.scheduler.run_for(seconds(20));
    EXPECT_EQ(world.seen.size(), 50 * (partitions - 1));
    world.write({std::string(pause_key), ""});

    ASSERT_TRUE(world.run_until([&] { return world.seen.size() >= 100 * partitions; }));
    EXPECT_EQ(world.owned("a"), partitions) << "it kept what it had";
    for (std::uint32_t p = 0; p < partitions; ++p) EXPECT_EQ(world.handled(p), up_to(99));
}

TEST(Core, drains_when_people_ask_it_to_and_another_goes_on) {
    World world;
    ASSERT_TRUE(world.start("a").ok());
    ASSERT_TRUE(world.start("b").ok());
    ASSERT_TRUE(world.run_until([&] { return world.owned("b") == 2 && world.owned("a") == 2; }));
    world.append(50);

    world.write({drain_key("1"), "now"});  // the first that was started
    ASSERT_TRUE(world.run_until([&] { return world.ended.has_value(); }, seconds(30)));
    EXPECT_EQ(world.ended->code, ErrorCode::cancelled);
    world.append(50);
    ASSERT_TRUE(world.run_until([&] { return world.seen.size() >= 100 * partitions; }));

    EXPECT_EQ(world.owned("a"), 0u);
    EXPECT_EQ(world.owned("b"), partitions);
    for (std::uint32_t p = 0; p < partitions; ++p) EXPECT_EQ(world.handled(p), up_to(99));
    EXPECT_TRUE(world.records(drain_prefix).empty()) << "done, so it is taken away";
}

TEST(Core, shares_by_load_if_told_to) {
    World world;
    world.options.by_load = true;
    ASSERT_TRUE(world.start("a").ok());
    ASSERT_TRUE(world.start("b").ok());
    const auto owns_alone = [&](std::uint32_t partition) {
        for (const char* id : {"a", "b"}) {
            const auto owned = world.nodes[id]->core->status().partitions;
            if (owned.size() == 1 && owned[0].partition == partition) return true;
        }
        return false;
    };

    bool is_shared = false;
    for (int i = 0; i < 3000 && !is_shared; ++i) {  // the first has as much as the others together
        world.append(2);
        world.hub.append_many({0}, 4, world.scheduler.clock().wall());
        world.scheduler.run_for(milliseconds(100));
        is_shared = owns_alone(0);
    }

    EXPECT_TRUE(is_shared) << world.nodes["a"]->core->explain();
    world.scheduler.run_for(seconds(10));
    for (std::uint32_t p = 1; p < partitions; ++p) {
        const auto all = world.handled(p);
        EXPECT_EQ(all, up_to(static_cast<std::int64_t>(all.size()) - 1)) << "none repeated or lost";
    }
}

TEST(Core, a_resume_retries_a_parked_partition) {
    World world;
    world.options.poison = Poison::park;
    world.options.retry = {.attempts_max = 1};
    world.poison = 2;
    world.append(5);
    ASSERT_TRUE(world.start("a").ok());
    const auto state = [&] { return world.nodes["a"]->core->status().partitions.at(0).state; };
    ASSERT_TRUE(world.run_until([&] { return world.owned("a") == partitions; }));
    ASSERT_TRUE(world.run_until([&] { return state() == "parked"; }));

    EXPECT_NE(world.nodes["a"]->core->status().partitions.at(0).reason, "");
    ASSERT_TRUE(world.run_until([&] { return world.records(parked_prefix).size() == partitions; }));

    world.poison = -1;
    world.scheduler.run_for(seconds(30));
    EXPECT_EQ(state(), "parked");
    world.write({parked_key({0}), ""});

    EXPECT_TRUE(world.run_until(
        [&] { return world.nodes["a"]->core->status().partitions.at(0).handled_sequence == 4; }));
    EXPECT_EQ(world.records(parked_prefix).size(), partitions - 1);
}

TEST(Core, a_parked_partition_stays_so_when_it_moves) {
    World world;
    world.options.poison_in_row_max = 1;
    world.options.retry = {.attempts_max = 1};
    world.is_all_poison = true;
    world.append(5);
    ASSERT_TRUE(world.start("a").ok());
    ASSERT_TRUE(world.run_until([&] { return world.records(parked_prefix).size() == partitions; }));
    world.kill("a");
    world.is_all_poison = false;

    ASSERT_TRUE(world.start("b").ok());
    ASSERT_TRUE(world.run_until([&] { return world.owned("b") == partitions; }));
    world.scheduler.run_for(seconds(30));

    const PartitionStatus parked = world.nodes["b"]->core->status().partitions.at(1);
    EXPECT_EQ(parked.state, "parked");
    EXPECT_TRUE(parked.reason.starts_with("1 events in a row")) << parked.reason;
    EXPECT_TRUE(world.handled(1).empty());

    world.write({parked_key({1}), ""});
    EXPECT_TRUE(world.run_until([&] { return world.handled(1) == up_to(4, 1); }))
        << "the first was dead-lettered, the second parked it";
}

TEST(Core, tells_who_had_a_partition_and_why_it_moved) {
    World world;
    ASSERT_TRUE(world.start("a").ok());
    ASSERT_TRUE(world.run_until([&] { return world.owned("a") == partitions; }));
    ASSERT_TRUE(world.start("b").ok());
    ASSERT_TRUE(world.run_until([&] { return world.owned("b") == 2 && world.owned("a") == 2; }));
    world.kill("b");
    ASSERT_TRUE(world.run_until([&] { return world.owned("a") == partitions; }));
    EXPECT_TRUE(world.stop("a").is_clean);

    std::size_t moved = 0;
    for (std::uint32_t p = 0; p < partitions; ++p) {
        const auto records = world.records(moves_key({p}));
        ASSERT_EQ(records.size(), 1u);
        const auto moves = decode_moves({p}, records[0].value);
        ASSERT_GE(moves.size(), 2u);
        EXPECT_EQ(moves[0].reason, "nobody had it before");
        EXPECT_EQ(moves.back().reason, "released: 'a' stops");
        EXPECT_EQ(moves.back().to, "");
        if (moves.size() < 4) continue;
        ++moved;
        EXPECT_EQ(moves[1].to, "b");
        EXPECT_EQ(moves[1].reason, "handed over: 'b' joined");
        EXPECT_EQ(moves[1].repeated, 0);
        EXPECT_EQ(moves[2].from, "b");
        EXPECT_EQ(moves[2].reason, "taken over: 'b' has not been heard of");
    }
    EXPECT_EQ(moved, 2u);
}

// With manual checkpoints a handler may have had events that no checkpoint covers.
TEST(Core, tells_how_many_events_a_hand_over_repeats) {
    World world;
    world.options.checkpoints.manual = true;
    world.do_checkpoint = true;
    world.append(5);
    ASSERT_TRUE(world.start("a").ok());
    ASSERT_TRUE(world.run_until([&] { return world.seen.size() == 5 * partitions; }));
    world.do_checkpoint = false;
    world.append(3);
    ASSERT_TRUE(world.run_until([&] { return world.seen.size() == 8 * partitions; }));

    ASSERT_TRUE(world.start("b").ok());
    ASSERT_TRUE(world.run_until([&] { return world.seen.size() == 8 * partitions + 3 * 2; }));
    EXPECT_TRUE(world.stop("a").is_clean);

    std::size_t moved = 0;
    for (std::uint32_t p = 0; p < partitions; ++p) {
        const auto records = world.records(moves_key({p}));
        ASSERT_EQ(records.size(), 1u);
        for (const auto& move : decode_moves({p}, records[0].value)) {
            if (move.from != "a" || move.to != "b") continue;
            ++moved;
            EXPECT_EQ(move.repeated, 3);
        }
    }
    EXPECT_GE(moved, 2u);
}

TEST(Core, stops_when_another_hub_answers_at_its_address) {
    World world;
    world.append(10);
    ASSERT_TRUE(world.start("a").ok());
    ASSERT_TRUE(world.run_until([&] { return world.seen.size() == 10 * partitions; }));

    world.hub.set_identity("another");
    ASSERT_TRUE(world.run_until([&] { return world.ended.has_value(); }));

    EXPECT_EQ(world.ended->code, ErrorCode::invalid_argument);
    EXPECT_NE(world.ended->detail.find("another hub answers"), std::string::npos);
    EXPECT_EQ(world.owned("a"), 0u);
}

TEST(Core, goes_on_with_a_hub_that_has_got_an_identity) {
    World world;
    world.hub.set_identity("");
    ASSERT_TRUE(world.start("a").ok());

    world.hub.set_identity("new");
    world.scheduler.run_for(2 * Core::refresh);
    world.append(10);

    EXPECT_TRUE(world.run_until([&] { return world.seen.size() == 10 * partitions; }));
    EXPECT_FALSE(world.ended);
}

TEST(Core, survives_an_error_handler_that_throws) {
    World world;
    world.do_errors_throw = true;
    world.options.retry = {.attempts_max = 1};
    world.poison = 2;
    world.append(5);
    ASSERT_TRUE(world.start("a").ok());

    EXPECT_TRUE(world.run_until([&] { return world.handled(0).size() >= 4; }));
    EXPECT_FALSE(world.failures.empty());
}

}  // namespace
}  // namespace evenkeel::processor
