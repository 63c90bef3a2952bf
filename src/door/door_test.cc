#include "door/door.h"

#include <gtest/gtest.h>

#include "door/door_fixture.h"

namespace evenkeel::door {
namespace {

TEST(Door, tells_a_client_that_there_are_too_many) {
    DoorFixture world({.connections_max = 2});
    world.client();
    world.client();

    Client& third = world.stranger();
    third.run_for(1s);

    EXPECT_TRUE(third.closed);
    EXPECT_EQ(third.close_error.name, "amqp:resource-limit-exceeded");
    third.run_for(5s);
    EXPECT_EQ(world.door->connection_count(), 2u);
}

TEST(Door, tells_operators_who_is_connected_and_what_its_links_do) {
    DoorFixture world;
    world.create("eh2", 1);
    Client& client = world.client();
    const auto sender = client.sender("eh1/Partitions/0");
    const auto reader = client.receiver(
        reading_address, {.properties = a_map({{"com.microsoft:epoch", a_long(3)}}), .credit = 10});
    const auto any = client.sender("eh2");
    ASSERT_TRUE(reader->is_open() && any->is_open());
    for (int i = 0; i < 4; ++i) EXPECT_EQ(client.outcome(sender, a_data("x")), "");
    client.run_for(2s);
    world.stranger();

    const auto page = world.door->connections({});

    ASSERT_EQ(page.connections.size(), 2u);
    EXPECT_EQ(page.total, 2u);
    EXPECT_FALSE(page.next);
    const ConnectionInfo& first = page.connections[0];
    EXPECT_EQ(first.container, "client");
    EXPECT_EQ(first.who, "root");
    EXPECT_EQ(first.from.host, "client");
    ASSERT_EQ(first.links.size(), 3u) << "links of nodes are left out";
    EXPECT_EQ(first.links[0].hub, "eh1");
    EXPECT_FALSE(first.links[0].is_reader);
    EXPECT_EQ(first.links[0].partition, PartitionId{0});
    EXPECT_EQ(first.links[0].events, 4);
    EXPECT_GT(first.links[0].per_second, 0);
    EXPECT_TRUE(first.links[1].is_reader);
    EXPECT_EQ(first.links[1].group, "$Default");
    EXPECT_EQ(first.links[1].epoch, Epoch{3});
    EXPECT_EQ(first.links[1].events, 4);
    EXPECT_EQ(first.links[1].credit, 6u);
    EXPECT_FALSE(first.links[2].partition);
    EXPECT_EQ(page.connections[1].who, "");
    EXPECT_TRUE(page.connections[1].links.empty());
}

TEST(Door, tells_of_one_event_hub_only_its_links_and_page_by_page) {
    DoorFixture world;
    world.create("eh2", 1);
    Client& both = world.client();
    const auto first = both.sender("eh1");
    const auto second = both.sender("eh2");
    Client& other = world.client();
    const auto third = other.sender("eh1");
    ASSERT_TRUE(first->is_open() && second->is_open() && third->is_open());

    const auto of_hub = world.door->connections({.hub = "eh2"});
    ASSERT_EQ(of_hub.connections.size(), 1u);
    EXPECT_EQ(of_hub.total, 1u);
    ASSERT_EQ(of_hub.connections[0].links.size(), 1u);
    EXPECT_EQ(of_hub.connections[0].links[0].hub, "eh2");

    const auto one = world.door->connections({.limit = 1});
    EXPECT_EQ(one.total, 2u);
    ASSERT_TRUE(one.next);
    const auto next = world.door->connections({.after = *one.next, .limit = 1});
    ASSERT_EQ(next.connections.size(), 1u);
    EXPECT_GT(next.connections[0].id, one.connections[0].id);
    EXPECT_FALSE(next.next);
}

TEST(Door, detaches_and_closes_with_forced_when_it_stops) {
    DoorFixture world;
    Client& client = world.client();
    const auto sender = client.sender("eh1");
    const auto reader = client.receiver("eh1/ConsumerGroups/$Default/Partitions/0");
    bool stopped = false;

    world.door->stop([&] { stopped = true; });

    EXPECT_TRUE(client.wait([&] { return stopped; }, 3s));
    EXPECT_TRUE(client.closed);
    EXPECT_EQ(client.close_error.name, "amqp:connection:forced");
    EXPECT_EQ(sender->error.name, "amqp:connection:forced");
    EXPECT_EQ(reader->error.name, "amqp:connection:forced");
}

TEST(Door, settles_what_is_on_its_way_to_disk_before_it_stops) {
    DoorFixture world;
    Client& client = world.client();
    const auto sender = client.sender("eh1/Partitions/0");
    world.disk_0.set_latency(500ms, 500ms);
    const auto id = client.start_send(sender, a_data("x"));
    client.run_for(50ms);
    bool stopped = false;

    world.door->stop([&] { stopped = true; });

    EXPECT_TRUE(client.wait([&] { return stopped; }, 10s));
    ASSERT_TRUE(client.outcomes.contains(id));
    EXPECT_EQ(client.outcomes[id].kind, amqp::DeliveryState::Kind::accepted);
}

TEST(Door, cuts_a_client_that_never_answers_when_it_stops) {
    DoorFixture world;
    world.client();
    world.network.freeze("client");
    bool stopped = false;
    world.door->stop([&] { stopped = true; });

    world.scheduler.run_for(4s);
    EXPECT_FALSE(stopped);
    world.scheduler.run_for(10s);
    EXPECT_TRUE(stopped);
}

TEST(Door, stops_within_the_limit_it_was_given) {
    DoorFixture world;
    Client& client = world.client();
    const auto link = client.sender("eh1");
    ASSERT_TRUE(link->is_open());
    world.network.freeze("client");
    bool stopped = false;
    world.door->stop([&] { stopped = true; }, 2s);

    world.scheduler.run_for(1900ms);
    EXPECT_FALSE(stopped);
    world.scheduler.run_for(200ms);
    EXPECT_TRUE(stopped);
}

TEST(Door, stops_at_once_when_nobody_is_there_and_takes_nobody_after) {
    DoorFixture world;
    bool stopped = false;
    bool refused = false;

    world.door->stop([&] { stopped = true; });
    world.network.host("client", world.client_loop).connect({"hub", 5672}, 5s, [&](auto result) {
        refused = !result.ok();
    });
    world.scheduler.run_for(10s);

    EXPECT_TRUE(stopped);
    EXPECT_TRUE(refused);
}

TEST(Door, lets_a_thousand_attaches_and_detaches_leave_nothing_behind) {
    DoorFixture world;
    Client& client = world.client();
    for (int i = 0; i < 1000; ++i) {
        const auto link = client.receiver("eh1/ConsumerGroups/$Default/Partitions/0");
        ASSERT_TRUE(link->is_open()) << i << " " << link->error.description;
        link->link->detach(std::nullopt);
        client.flush();
        ASSERT_TRUE(client.sender("none")->detached);
    }
    EXPECT_FALSE(client.closed);
    EXPECT_TRUE(client.sender("eh1")->is_open());
}

TEST(Door, survives_random_bytes_from_clients_and_serves_others) {
    DoorFixture world;
    Client& good = world.client();
    const auto link = good.sender("eh1");
    Random random(test::test_seed());
    for (int i = 0; i < 100; ++i) {
        Client& bad = i % 2 == 0 ? world.stranger() : world.client();
        std::string bytes(random.below(200) + 8, '\0');
        for (char& c : bytes) c = static_cast<char>(random.next());
        bytes[0] = bytes[1] = bytes[2] = 0;  // a size that may be
        bytes[4] = 2;
        bytes[5] = 0;
        bad.run_for(10ms);
        bad.write_raw(bytes);
        bad.run_for(10ms);
        bad.socket->close();
        EXPECT_EQ(good.outcome(link, a_data("x")), "");
    }
    world.scheduler.run_for(20s);
    EXPECT_EQ(world.door->connection_count(), 1u);
}

}  // namespace
}  // namespace evenkeel::door
