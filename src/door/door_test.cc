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
