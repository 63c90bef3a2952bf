#include "dashboard/groups.h"

#include <gtest/gtest.h>

#include "base/trace_fixture.h"
#include "dashboard/groups_fixture.h"
#include "processor/ownership/requests.h"

namespace evenkeel::dashboard {
namespace {

using namespace std::chrono_literals;
using State = WatchedGroup::State;

class WatchedGroups : public testing::Test {
protected:
    WatchedGroups() {
        EXPECT_TRUE(world.create("homes", {.partitions = 4}).ok());
        EXPECT_TRUE(world.create_group("homes", "billing").ok());
    }
    void watch(GroupsOptions options) {
        groups.emplace(world.node->loop, *world.hub, stores, std::move(options));
        world.run_for(100ms);
    }
    void watch() { watch({.groups = {{"homes", "billing", "memory:"}}, .stores = {}}); }
    SimGroup members() { return {world.scheduler, stores, world.hub->identity()}; }
    GroupView view() { return groups->view(*groups->find("Homes", "BILLING")); }

    hub::HubFixture storage;
    hub::HubFixture& world = hub::opened(storage);
    SimStores stores{world.scheduler};
    std::optional<Groups> groups;
};

TEST(MovesOf, leaves_out_records_that_name_no_partition) {
    const processor::OwnerMove move{{1}, {7}, 90, "", "bob", "was free"};
    const std::string moves = processor::encode_moves({move});
    const std::string prefix(processor::moves_prefix);
    for (const char* bad : {"", "x", "1x", "-1", "99999999999"}) {
        EXPECT_TRUE(moves_of({{prefix + bad, moves}}).empty()) << bad;
    }
    EXPECT_EQ(moves_of({{processor::moves_key({1}), moves}}).size(), 1U);
}

TEST_F(WatchedGroups, show_who_owns_what_and_how_far_behind_it_is) {
    SimGroup group = members();
    group.beat("ada");
    group.own(0, "ada", 3);
    ASSERT_TRUE(world.append("homes", 0, {"a", "b", "c"}).ok());
    const auto enqueued = world.properties("homes", 0).last_enqueued.milliseconds;
    group.handle(0, 0, enqueued - 250);

    watch();

    const GroupView seen = view();
    ASSERT_EQ(seen.members.size(), 1U);
    EXPECT_EQ(seen.members[0].id, "ada");
    EXPECT_EQ(seen.members[0].state, "active");
    EXPECT_EQ(seen.members[0].share, 1U);
    ASSERT_EQ(seen.partitions.size(), 4U);
    EXPECT_EQ(seen.partitions[0].owner, "ada");
    EXPECT_EQ(seen.partitions[0].epoch, 3);
    EXPECT_EQ(seen.partitions[0].progress.lag, 2);
    EXPECT_EQ(seen.partitions[0].progress.behind_ms, 250);
    EXPECT_EQ(seen.partitions[1].owner, std::nullopt);
    EXPECT_EQ(seen.partitions[1].next, "ada") << "it is the only one left to take it";
    EXPECT_EQ(seen.lag(), 2);
}

TEST_F(WatchedGroups, tell_a_silent_member_by_the_steady_clock) {
    SimGroup group = members();
    group.beat("ada");
    group.beat("bob");
    for (std::uint32_t p = 0; p < 4; ++p) group.own(p, p < 2 ? "ada" : "bob", 1);
    watch();
    for (int i = 0; i < 3; ++i) {
        world.run_for(2s);
        world.node->loop.set_wall_skew(std::chrono::hours(i));  // wall clocks do not count
        group.beat("ada");
    }
    world.run_for(500ms);

    const GroupView seen = view();
    EXPECT_EQ(seen.members[0].state, "active");
    EXPECT_EQ(seen.members[1].state, "silent");
    EXPECT_GE(seen.members[1].silent_ms, 6000);
    EXPECT_EQ(seen.partitions[3].owner, "bob");
    EXPECT_EQ(seen.partitions[3].next, "ada");
    EXPECT_EQ(seen.partitions[0].next, std::nullopt);
}

TEST_F(WatchedGroups, forget_a_dead_member_that_owns_nothing) {
    SimGroup group = members();
    group.beat("ada");
    watch();
    ASSERT_EQ(view().members.size(), 1U);
    EXPECT_EQ(view().members[0].state, "standby");

    world.run_for(10s);

    EXPECT_TRUE(view().members.empty());
}

TEST_F(WatchedGroups, show_offers_parked_and_paused_partitions) {
    SimGroup group = members();
    group.beat("ada", {{{1}, "bob"}});
    group.beat("bob");
    for (std::uint32_t p = 0; p < 4; ++p) group.own(p, "ada", 1);
    group.write(processor::parked_key({2}),
                processor::encode(processor::Parked{77, false, "ada", "bad json"}));
    group.write(std::string(processor::pause_key), "0,3");
    watch();

    const GroupView seen = view();
    EXPECT_EQ(seen.partitions[1].phase, "offered");
    EXPECT_EQ(seen.partitions[1].next, "bob");
    EXPECT_EQ(seen.partitions[2].state, "parked");
    EXPECT_EQ(seen.partitions[2].cause, "bad json");
    EXPECT_EQ(seen.partitions[3].state, "paused");
    ASSERT_EQ(seen.requests.size(), 1U);
    EXPECT_EQ(seen.requests[0].what, "partitions 0,3");
}

TEST_F(WatchedGroups, show_moves_soon_after_they_were_written_down) {
    SimGroup group = members();
    group.beat("ada");
    group.own(0, "ada", 1);
    watch();
    EXPECT_TRUE(view().moves.empty());

    group.own(0, "bob", 2);
    world.run_for(1500ms);  // it is written down later
    group.write(processor::moves_key({0}),
                processor::encode_moves({{{0}, {2}, 90, "ada", "bob", "because"}}));
    world.run_for(1500ms);

    ASSERT_EQ(view().moves.size(), 1U);
    EXPECT_EQ(view().moves[0].reason, "because");
}

TEST_F(WatchedGroups, say_why_a_store_cannot_be_opened_and_try_again) {
    stores.away = Error{ErrorCode::unavailable, "no route to db"};
    watch();

    const WatchedGroup* group = groups->find("homes", "billing");
    ASSERT_NE(group, nullptr);
    EXPECT_EQ(group->state(), State::failed);
    EXPECT_EQ(group->error()->detail, "no route to db");
    ASSERT_TRUE(group->retried_at());
    EXPECT_EQ(view().partitions.size(), 4U) << "what the hub knows is still there";

    stores.away.reset();
    SimGroup late = members();
    late.beat("ada");
    world.run_for(16s);
    EXPECT_EQ(group->state(), State::ok);
    EXPECT_FALSE(group->error());
}

TEST_F(WatchedGroups, are_found_in_a_whole_store_once_it_knows_them) {
    watch({.groups = {}, .stores = {"memory:"}});
    EXPECT_TRUE(groups->list().empty());

    SimGroup group = members();
    group.beat("ada");
    world.run_for(5s);

    ASSERT_EQ(groups->list().size(), 1U);
    EXPECT_EQ(groups->list()[0]->wish().group, "billing");
    ASSERT_TRUE(world.remove("homes").ok());
    world.run_for(5s);
    EXPECT_TRUE(groups->list().empty());
}

TEST_F(WatchedGroups, of_two_stores_are_both_found) {
    ASSERT_TRUE(world.create_group("homes", "alarms").ok());
    SimGroup billing = members();
    billing.beat("ada");
    const checkpoint::GroupName alarms{"localhost", "homes", "alarms"};
    checkpoint::MemoryStore store(stores.loop, stores.other, alarms);
    store.write_record({std::string(processor::home_hub_key), world.hub->identity()}, [](auto) {});
    const checkpoint::GroupName by_identity{world.hub->identity(), "homes", "alarms"};
    checkpoint::MemoryStore home(stores.loop, stores.other, by_identity);
    home.write_record({std::string(processor::home_name_key), "localhost"}, [](auto) {});
    store.write_member({.id = "bob", .incarnation = "bob-1"}, [](const auto&) {});
    world.run_for(1ms);

    watch({.groups = {}, .stores = {"memory:", "memory:other"}});

    ASSERT_EQ(groups->list().size(), 2U);
    EXPECT_EQ(groups->list()[0]->wish().group, "alarms");
    EXPECT_EQ(groups->list()[0]->wish().store, "memory:other");
    EXPECT_EQ(groups->list()[1]->wish().store, "memory:");
    ASSERT_NE(groups->find("HOMES", "alarms"), nullptr);
    EXPECT_EQ(groups->view(*groups->find("HOMES", "alarms")).members.at(0).id, "bob");
    EXPECT_EQ(view().members.at(0).id, "ada");
}

TEST_F(WatchedGroups, of_two_stores_that_fail_are_shown_once) {
    stores.away = Error{ErrorCode::unavailable, "no route to db"};

    watch({.groups = {}, .stores = {"memory:", "memory:other"}});

    ASSERT_EQ(groups->list().size(), 2U) << "$Default and billing";
    EXPECT_EQ(groups->list()[0]->state(), State::failed);
    EXPECT_NE(groups->list()[0]->wish().group, groups->list()[1]->wish().group);
}

TEST_F(WatchedGroups, a_store_does_not_know_are_looked_for_less_often) {
    watch();
    world.run_for(60s);
    const int before = stores.opens;

    world.run_for(60s);

    // One look every 15 s; each asks for the identity and for two names of the host.
    EXPECT_LE(stores.opens - before, 5 * 3);
    EXPECT_GE(stores.opens - before, 3 * 3);
    SimGroup group = members();
    group.beat("ada");
    groups->look_soon(*groups->find("homes", "billing"));
    world.run_for(300ms);
    EXPECT_EQ(view().members.size(), 1U) << "an operator's change is seen at once";
}

TEST_F(WatchedGroups, beyond_their_number_are_left_out_with_a_warning) {
    for (int i = 0; i < 200; ++i) {
        ASSERT_TRUE(world.create("hub-" + std::to_string(i), {.partitions = 1}).ok());
    }
    CapturedTrace log(TraceLevel::warning, TraceFormat::text);

    watch({.groups = {}, .stores = {"memory:"}});
    world.run_for(10s);

    EXPECT_EQ(count_of("too many groups to watch", log.take()), 1U)
        << "once, as long as it is the same";
}

TEST_F(WatchedGroups, leave_entries_of_another_hub_alone) {
    SimGroup group{world.scheduler, stores, "another hub's identity"};
    group.beat("ada");
    watch();

    EXPECT_EQ(groups->find("homes", "billing")->state(), State::ok);
    EXPECT_TRUE(view().members.empty());
}

TEST_F(WatchedGroups, make_nothing_in_the_store) {
    watch();
    world.run_for(10s);

    std::optional<std::size_t> records;
    checkpoint::MemoryStore store(stores.loop, stores.server, {"localhost", "homes", "billing"});
    store.list_records("", [&](const auto& listed) { records = listed->size(); });
    world.run_for(1ms);
    EXPECT_EQ(records, 0U);
}

TEST_F(WatchedGroups, say_what_a_crash_would_repeat) {
    SimGroup group = members();
    group.beat("ada");
    group.own(0, "ada", 1);
    group.handle(0, 0, 1);
    ASSERT_TRUE(world.append("homes", 0, {"a", "b", "c"}).ok());
    auto reader = world.attach("homes", 0, Position::earliest(), {"ada", Epoch{1}}, {}, "billing");
    ASSERT_TRUE(reader.ok());
    watch();
    ASSERT_TRUE(read_on(**reader).ok());

    EXPECT_EQ(view().partitions[0].hub.reader_epoch, 1);
    EXPECT_EQ(view().partitions[0].repeats_max, 2);

    reader->reset();  // killed
    EXPECT_EQ(view().partitions[0].hub.reader_epoch, std::nullopt);
    EXPECT_EQ(view().partitions[0].repeats_max, 2) << "what it was sent is still not stored";
}

TEST_F(WatchedGroups, know_from_its_profile_when_a_silent_member_is_taken_over) {
    SimGroup group = members();
    group.beat("ada", {}, "host-1:7 fast");
    group.own(0, "ada", 1);
    watch();
    ASSERT_EQ(view().members.size(), 1U);
    EXPECT_EQ(view().members[0].host, "host-1:7");
    EXPECT_EQ(view().members[0].profile, "fast");
    EXPECT_EQ(view().members[0].dead_after_ms, 2550);

    world.run_for(2400ms);  // a heartbeat of the usual profile and a look take longer

    EXPECT_EQ(view().members[0].state, "silent");
}

TEST_F(WatchedGroups, tell_draining_from_offered_by_the_reader_at_the_hub) {
    SimGroup group = members();
    group.beat("ada", {{{0}, "bob"}});
    group.beat("bob");
    group.own(0, "ada", 1);
    auto reader = world.attach("homes", 0, Position::earliest(), {"ada", Epoch{1}}, {}, "billing");
    ASSERT_TRUE(reader.ok());
    watch();
    EXPECT_EQ(view().partitions[0].phase, "offered");

    reader->reset();

    EXPECT_EQ(view().partitions[0].phase, "draining");
    EXPECT_EQ(view().partitions[0].next, "bob");
}

TEST_F(WatchedGroups, mark_a_checkpoint_behind_the_last_event) {
    const std::int64_t created = (*world.hub->find("homes"))->record().created.milliseconds;
    SimGroup group = members();
    group.own(0, "ada", 1);
    group.handle(0, 500, 1, created);
    group.own(1, "ada", 1);
    group.handle(1, 500, 1, created - 1);  // of a hub that was removed: all counts
    ASSERT_TRUE(world.append("homes", 0, {"a", "b", "c"}).ok());
    ASSERT_TRUE(world.append("homes", 1, {"a", "b", "c"}).ok());

    watch();

    const GroupView seen = view();
    EXPECT_EQ(seen.partitions[0].state, "stalled");
    EXPECT_EQ(seen.partitions[0].progress.lag, 0);
    EXPECT_EQ(seen.partitions[1].state, "ok");
    EXPECT_EQ(seen.partitions[1].progress.lag, 3);
}

TEST_F(WatchedGroups, mark_a_partition_that_stands_still) {
    SimGroup group = members();
    group.own(0, "ada", 1);
    group.handle(0, 0, 1);
    ASSERT_TRUE(world.append("homes", 0, {"a", "b", "c"}).ok());
    watch();
    for (int i = 0; i < 62; ++i) {
        group.beat("ada");
        world.run_for(1s);
    }
    EXPECT_EQ(view().partitions[0].state, "stalled");
    group.handle(0, 2, 1);
    world.run_for(2s);
    EXPECT_EQ(view().partitions[0].state, "ok");
}

}  // namespace
}  // namespace evenkeel::dashboard
