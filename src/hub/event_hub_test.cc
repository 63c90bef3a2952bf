#include "hub/event_hub.h"

#include <gtest/gtest.h>

#include "eventhubs/partition_key.h"
#include "hub/hub_fixture.h"

namespace evenkeel::hub {
namespace {

class EventHubWorld : public HubFixture {
public:
    explicit EventHubWorld(std::uint32_t partitions, HubOptions hub_options = {})
        : HubFixture(std::move(hub_options)) {
        opened(*this);
        EXPECT_TRUE(create("homes", {.partitions = partitions}).ok());
    }
    EventHub& homes() { return **hub->find("homes"); }
};

TEST(Routing, goes_to_each_partition_in_turn_without_key_or_partition) {
    EventHubWorld world(3);
    std::vector<std::uint32_t> turns;
    for (int i = 0; i < 7; ++i) turns.push_back(world.homes().route({}, "")->value);

    EXPECT_EQ(turns, (std::vector<std::uint32_t>{0, 1, 2, 0, 1, 2, 0}));
}

TEST(Routing, goes_by_the_hash_of_the_key) {
    EventHubWorld world(32);

    for (const char* key : {"a", "key1", "日本語"}) {
        EXPECT_EQ(*world.homes().route({}, key), eventhubs::partition_of_key(key, 32));
    }
}

TEST(Routing, goes_to_the_partition_that_is_named) {
    EventHubWorld world(4);

    EXPECT_EQ(world.homes().route(PartitionId{3}, "")->value, 3u);
}

TEST(Routing, refuses_a_partition_together_with_a_key) {
    EventHubWorld world(4);

    const auto both = world.homes().route(PartitionId{3}, "key");

    EXPECT_EQ(both.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(both.error().detail,
              "an event goes to a partition or by its key, not both; leave one out");
}

TEST(Routing, refuses_a_key_that_is_too_long) {
    EventHubWorld world(4);

    EXPECT_EQ(world.homes().route({}, std::string(129, 'k')).error().code,
              ErrorCode::invalid_argument);
}

TEST(Routing, takes_new_partitions_in_and_leaves_old_events_where_they_are) {
    EventHubWorld world(2);
    const PartitionId before = *world.homes().route({}, "7");
    ASSERT_TRUE(world.append("homes", before.value, {"old"}).ok());

    ASSERT_TRUE(world.alter("homes", {.partitions = 8}).ok());

    EXPECT_EQ(before, eventhubs::partition_of_key("7", 2));
    EXPECT_EQ(*world.homes().route({}, "7"), eventhubs::partition_of_key("7", 8));
    EXPECT_NE(*world.homes().route({}, "7"), before);
    EXPECT_EQ(*world.read("homes", before.value), (Bodies{"old"}));
    std::vector<std::uint32_t> turns(8);
    for (int i = 0; i < 16; ++i) ++turns[world.homes().route({}, "")->value];
    EXPECT_EQ(turns, std::vector<std::uint32_t>(8, 2));
}

TEST(EventHub, names_the_partitions_there_are_when_asked_for_another) {
    EventHubWorld world(4);

    for (const std::uint32_t id : {4u, 4'000'000'000u}) {
        const auto routed = world.homes().route(PartitionId{id}, "");
        const auto appended = world.append("homes", id, {"x"});
        const auto attached = world.attach("homes", id);

        const std::string expected =
            "event hub 'homes' has no partition " + std::to_string(id) + "; it has 0 to 3";
        for (const auto& error : {routed.error(), appended.error(), attached.error()}) {
            EXPECT_EQ(error.code, ErrorCode::not_found);
            EXPECT_EQ(error.detail, expected);
        }
    }
}

TEST(EventHub, names_the_group_that_does_not_exist) {
    EventHubWorld world(1);

    const auto attached = world.attach("homes", 0, Position::earliest(), {}, {}, "aud\nit");

    EXPECT_EQ(attached.error().code, ErrorCode::not_found);
    EXPECT_EQ(attached.error().detail,
              "event hub 'homes' has no consumer group 'aud?it'; create it first");
}

TEST(EventHub, finds_its_groups_in_any_case) {
    EventHubWorld world(1);
    ASSERT_TRUE(world.create_group("homes", "Audit").ok());

    for (const char* group : {"$Default", "$default", "audit", "AUDIT"}) {
        EXPECT_TRUE(world.attach("homes", 0, Position::earliest(), {}, {}, group).ok()) << group;
    }
}

TEST(EventHub, stores_nothing_of_a_batch_with_an_event_that_is_too_large) {
    EventHubWorld world(1, {.event_bytes_max = 100});

    const auto refused = world.append("homes", 0, {"small", std::string(101, 'x'), "small"});

    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(refused.error().detail,
              "an event of 101 bytes is larger than the limit of 100 bytes; send it in parts or "
              "raise event_bytes_max");
    EXPECT_EQ(*world.read("homes", 0), Bodies{});
    EXPECT_EQ(world.properties("homes", 0).last_sequence.value, -1);
    EXPECT_TRUE(world.append("homes", 0, {std::string(100, 'x')}).ok());
}

TEST(EventHub, refuses_an_empty_batch) {
    EventHubWorld world(1);

    EXPECT_EQ(world.append("homes", 0, {}).error().code, ErrorCode::invalid_argument);
}

TEST(RuntimeProperties, of_a_partition_never_used_say_that_nothing_is_there) {
    EventHubWorld world(1);

    const auto properties = world.properties("homes", 0);

    EXPECT_TRUE(properties.is_empty);
    EXPECT_EQ(properties.begin_sequence.value, -1);
    EXPECT_EQ(properties.last_sequence.value, -1);
    EXPECT_EQ(properties.last_offset.value, -1);
    EXPECT_EQ(properties.last_enqueued.milliseconds, 0);
}

TEST(RuntimeProperties, tell_the_first_event_there_is_and_the_last_one) {
    EventHubWorld world(1);
    const auto appended = world.append("homes", 0, {"12345", "12345", "12345"});

    const auto properties = world.properties("homes", 0);

    EXPECT_FALSE(properties.is_empty);
    EXPECT_EQ(properties.begin_sequence.value, 0);
    EXPECT_EQ(properties.last_sequence.value, 2);
    EXPECT_EQ(properties.last_offset.value, 128);
    EXPECT_EQ(properties.last_enqueued, appended->enqueued);
}

TEST(RuntimeProperties, keep_the_last_values_of_an_emptied_partition) {
    EventHubWorld world(1);
    const auto appended = world.append("homes", 0, {"12345", "12345", "12345"});
    ASSERT_TRUE(world
                    .wait(world.start([&](auto done) {
                        world.homes().partition({0}).value()->log().value()->purge(
                            SequenceNumber{3}, std::move(done));
                    }))
                    .ok());

    for (int round = 0; round < 3; ++round) {
        const auto properties = world.properties("homes", 0);
        EXPECT_TRUE(properties.is_empty);
        EXPECT_EQ(properties.begin_sequence.value, 2);
        EXPECT_EQ(properties.last_sequence.value, 2);
        EXPECT_EQ(properties.last_offset.value, 128);
        EXPECT_EQ(properties.last_enqueued, appended->enqueued);
        ASSERT_TRUE(world.reopen().ok());
    }
    EXPECT_EQ(world.append("homes", 0, {"x"})->first.value, 3);
}

TEST(RuntimeProperties, show_nothing_that_is_not_durable) {
    EventHubWorld world(1);
    world.node->disk_0.pause(std::chrono::minutes(1));
    world.node->disk_1.pause(std::chrono::minutes(1));
    const auto answer = world.start_append("homes", 0, {"x"});
    world.run_for(std::chrono::seconds(30));

    EXPECT_FALSE(answer->has_value());
    EXPECT_TRUE(world.properties("homes", 0).is_empty);
    EXPECT_EQ(*world.read("homes", 0), Bodies{});
    EXPECT_TRUE(world.wait(answer).ok());
    EXPECT_EQ(*world.read("homes", 0), (Bodies{"x"}));
}

}  // namespace
}  // namespace evenkeel::hub
