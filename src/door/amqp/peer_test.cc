#include "door/amqp/peer.h"

#include <gtest/gtest.h>

#include "door/door_fixture.h"

namespace evenkeel::door {
namespace {

TEST(Peer, accepts_every_mechanism_but_no_wrong_key) {
    DoorFixture world;
    for (const char* const mechanism : {"", "ANONYMOUS", "MSSBCBS", "EXTERNAL"}) {
        amqp::ConnectionOptions options;
        options.mechanism = mechanism;
        EXPECT_TRUE(world.stranger(options).opened) << mechanism;
    }
    amqp::ConnectionOptions plain;
    plain.mechanism = "PLAIN";
    plain.response = std::string("\0root\0", 6) + root_key.reveal();
    EXPECT_TRUE(world.stranger(plain).sender("eh1")->is_open());

    plain.response = std::string("\0root\0wrong", 11);
    Client wrong(world.scheduler, world.client_loop,
                 world.network.host("client", world.client_loop), plain);
    EXPECT_FALSE(wrong.open());
    EXPECT_TRUE(wrong.wait([&] { return wrong.ended; }));
}

TEST(Peer, cuts_a_connection_that_is_not_opened_within_ten_seconds) {
    DoorFixture world;
    std::unique_ptr<io::Socket> socket;
    world.network.host("client", world.client_loop).connect({"hub", 5672}, 10s, [&](auto result) {
        socket = std::move(*result);
    });
    world.scheduler.run_for(5s);
    EXPECT_EQ(world.door->connection_count(), 1u);

    world.scheduler.run_for(7s);

    EXPECT_EQ(world.door->connection_count(), 0u);
}

TEST(Peer, answers_other_protocols_with_its_header_and_goes) {
    DoorFixture world;
    for (const std::string_view hello :
         {std::string_view("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11),
          std::string_view("GET / HTTP/1.1\r\n\r\n"), std::string_view("AMQP\0\0\x09\x01", 8),
          std::string_view("SSH-2.0-OpenSSH_9.2\r\n")}) {
        std::unique_ptr<io::Socket> socket;
        std::vector<std::byte> input(64);
        std::string got;
        bool ended = false;
        world.network.host("client", world.client_loop)
            .connect({"hub", 5672}, 10s, [&](auto result) { socket = std::move(*result); });
        world.scheduler.run_until([&] { return socket != nullptr; }, 10s);
        Callback<void()> read = [&] {
            socket->read(input, [&](Result<std::size_t> size) {
                if (!size.ok() || *size == 0) {
                    ended = true;
                    return;
                }
                got += as_text(ByteView(input).first(*size));
                read();
            });
        };
        read();
        socket->write(as_bytes(hello), [](const Result<>&) {});

        EXPECT_TRUE(world.scheduler.run_until([&] { return ended; }, 10s)) << hello;
        EXPECT_EQ(got.substr(0, 4), "AMQP");
        socket.reset();
        world.scheduler.run_for(5s);
        EXPECT_EQ(world.door->connection_count(), 0u);
    }
}

TEST(Peer, detaches_links_when_their_token_expires) {
    DoorFixture world;
    Client& client = world.stranger();
    client.authorize(60s);
    const auto sender = client.sender("eh1/Partitions/0");
    const auto receiver = client.receiver("eh1/ConsumerGroups/$Default/Partitions/0");

    client.run_for(65s);

    EXPECT_TRUE(sender->detached);
    EXPECT_EQ(sender->error.name, "amqp:unauthorized-access");
    EXPECT_EQ(sender->error.description.substr(0, 13), "ExpiredToken:");
    EXPECT_TRUE(receiver->detached);
    EXPECT_FALSE(client.closed);
    client.authorize();
    EXPECT_TRUE(client.sender("eh1")->is_open());
}

TEST(Peer, keeps_links_whose_token_is_renewed_in_time) {
    DoorFixture world;
    Client& client = world.stranger();
    client.authorize(60s);
    const auto sender = client.sender("eh1/Partitions/0");
    client.run_for(30s);

    client.authorize(60s);
    client.run_for(50s);

    EXPECT_TRUE(sender->is_open());
}

TEST(Peer, detaches_only_the_links_that_the_token_covered) {
    DoorFixture world;
    world.create("eh2", 1);
    Client& client = world.stranger();
    const auto put = [&](const std::string& hub, std::chrono::milliseconds life) {
        const std::string url = "sb://hub/" + hub;
        EXPECT_EQ(client.put_token(make_sas(url, "root", root_key, world.now() + life), url).code,
                  202);
    };
    put("eh1", 60s);
    put("eh2", 1h);
    const auto first = client.sender("eh1");
    const auto second = client.sender("eh2");

    client.run_for(65s);

    EXPECT_TRUE(first->detached);
    EXPECT_TRUE(second->is_open());
}

TEST(Peer, closes_links_within_five_seconds_of_a_key_rotation) {
    DoorFixture world;
    Client& client = world.client();
    const auto sender = client.sender("eh1");
    const auto receiver = client.receiver("eh1/ConsumerGroups/$Default/Partitions/0");

    world.door->rules().replace({{"root", "", other_key, {}, {true, true, true}}});
    client.run_for(5s);

    EXPECT_TRUE(sender->detached);
    EXPECT_TRUE(receiver->detached);
    EXPECT_EQ(sender->error.name, "amqp:unauthorized-access");
    EXPECT_EQ(client.sender("eh1")->error.name, "amqp:unauthorized-access");
}

TEST(Peer, detaches_a_sender_that_sends_nothing_for_half_an_hour) {
    DoorFixture world;
    Client& client = world.stranger();
    client.authorize(24h);
    const auto sender = client.sender("eh1");
    const auto receiver = client.receiver("eh1/ConsumerGroups/$Default/Partitions/0");
    const auto alive = [&] {  // a client's keep-alives
        for (int i = 0; i < 31; ++i) {
            client.run_for(60s);
            client.connection->tick(world.client_loop.clock().now());
            client.flush();
        }
    };

    alive();

    EXPECT_TRUE(sender->detached);
    EXPECT_EQ(sender->error.name, "amqp:link:detach-forced");
    EXPECT_NE(sender->error.description.find("IdleTimerExpired"), std::string::npos);
    EXPECT_TRUE(receiver->is_open());
}

TEST(Peer, closes_a_connection_that_has_no_links_for_four_minutes) {
    DoorFixture world({.times = {.login = 1h}});
    Client& client = world.stranger();

    for (int i = 0; i < 5 && !client.closed; ++i) {
        client.run_for(60s);
        client.connection->tick(world.client_loop.clock().now());
        client.flush();
    }

    EXPECT_TRUE(client.closed);
    EXPECT_EQ(client.close_error.name, "amqp:connection:forced");
}

TEST(Peer, keeps_a_connection_alive_however_soon_the_client_gives_it_up) {
    for (const auto idle : {200ms, 300ms, 1000ms, 3000ms, 9000ms}) {
        DoorFixture world({.times = {.login = 1h}});
        amqp::ConnectionOptions options;
        options.idle_timeout = idle;
        Client& client = world.stranger(options);

        for (int i = 0; i < 40 && !client.closed; ++i) {
            client.run_for(idle / 8);
            client.connection->tick(world.client_loop.clock().now());
            client.flush();
        }

        EXPECT_FALSE(client.closed) << idle.count() << " ms: " << client.close_error.description;
    }
}

TEST(Peer, refuses_an_idle_time_out_too_short_to_be_kept) {
    DoorFixture world;
    amqp::ConnectionOptions options;
    options.idle_timeout = 50ms;
    Client& client = world.stranger(options);

    client.run_for(1s);

    EXPECT_TRUE(client.closed);
    EXPECT_EQ(client.close_error.name, "amqp:invalid-field");
    EXPECT_EQ(client.close_error.description,
              "The idle time-out of 50 ms is too short; ask for 200 ms or more.");
}

}  // namespace
}  // namespace evenkeel::door
