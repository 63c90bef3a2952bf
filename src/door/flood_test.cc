// Many clients that come and say nothing, and single ones that never stop: the hub ends them in
// time, and others hardly notice.
#include <array>

#include <gtest/gtest.h>

#include "door/door_fixture.h"
#include "http/server.h"
#include "io/tls.h"

namespace evenkeel::door {
namespace {

// Sends and waits for the acknowledgement; how long that took.
Duration send_time(DoorFixture& world, Client& client, const ClientLinkRef& link) {
    const Instant before = world.client_loop.clock().now();
    EXPECT_EQ(client.outcome(link, a_data("x")), "");
    return world.client_loop.clock().now() - before;
}

TEST(HalfOpen, two_thousand_sessions_are_closed_after_ten_seconds) {
    DoorFixture world;
    Client& client = world.client();
    const auto link = client.sender("eh1/Partitions/0");
    const Duration alone = send_time(world, client, link);
    constexpr std::size_t count = 2000;
    // As far as they get: nothing, half a header, a header, a header and half a frame.
    const std::array<std::string, 4> words = {
        "", "AMQ", std::string("AMQP\3\1\0\0", 8),
        std::string("AMQP\0\1\0\0", 8) + std::string("\0\0\1\0\2\0\0\0", 8)};
    auto& network = world.network.host("crowd", world.client_loop);
    std::vector<std::unique_ptr<io::Socket>> crowd;
    for (std::size_t i = 0; i < count; ++i) {
        network.connect({"hub", 5672}, 60s, [&, i](Result<std::unique_ptr<io::Socket>> socket) {
            ASSERT_TRUE(socket.ok());
            crowd.push_back(std::move(*socket));
            const std::string& word = words[i % words.size()];
            if (!word.empty()) crowd.back()->write(as_bytes(word), [](const Result<>&) {});
        });
    }
    ASSERT_TRUE(client.wait([&] { return crowd.size() == count; }));
    client.run_for(5s);

    EXPECT_EQ(world.door->connection_count(), count + 1);
    EXPECT_LE(send_time(world, client, link), 2 * alone + 5ms);
    client.run_for(8s);  // ten in all, a tick, and the time to see them go
    EXPECT_EQ(world.door->connection_count(), 1u);
    EXPECT_LE(send_time(world, client, link), 2 * alone + 5ms);
}

enum class Way { tls, http, https, websocket };

class HalfOpenBy : public testing::TestWithParam<Way> {};

TEST_P(HalfOpenBy, another_way_are_closed_after_ten_seconds_too) {
    const std::string upgrade =
        "GET /$servicebus/websocket HTTP/1.1\r\nHost: hub\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: AMQPWSB10\r\n\r\n";
    const std::string hello("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11);
    const Way way = GetParam();
    const bool is_tls = way == Way::tls || way == Way::https;
    // As far as they get.
    std::array<std::string, 3> words = {"", hello.substr(0, 3), hello};
    if (way == Way::http)
        words = {"", "GET / HT", "POST / HTTP/1.1\r\nHost: hub\r\nContent-Length: 9\r\n\r\nab"};
    if (way == Way::websocket) {
        // Then an AMQP header by halves: a frame of four bytes, under a mask of zeros.
        words = {upgrade, upgrade + std::string("\x82\x84\0\0\0\0AMQP", 10), upgrade + "\x82"};
    }
    const auto identity = io::make_self_signed();
    const auto context = io::TlsServerContext::make(*identity);
    DoorFixture world;
    http::Server server(
        world.loop, {.connections_max = 3000},
        [](const http::Request&, Callback<void(http::Response)>) {},
        [&](const std::string&, const std::string&, std::unique_ptr<io::Socket> socket) {
            world.door->adopt(std::move(socket));
        });
    auto listener = *world.network.host("hub", world.loop).listen({"hub", 443});
    if (is_tls) listener = io::tls_listener(world.loop, std::move(listener), **context);
    way == Way::tls ? world.door->serve(std::move(listener)) : server.serve(std::move(listener));
    Client& client = world.client();
    const auto link = client.sender("eh1/Partitions/0");
    const Duration alone = send_time(world, client, link);
    constexpr std::size_t count = 2000;
    std::vector<std::unique_ptr<io::Socket>> crowd;
    for (std::size_t i = 0; i < count; ++i) {
        world.network.host("crowd", world.client_loop)
            .connect({"hub", 443}, 60s, [&, i](Result<std::unique_ptr<io::Socket>> socket) {
                ASSERT_TRUE(socket.ok());
                crowd.push_back(std::move(*socket));
                const std::string& word = words[i % words.size()];
                if (!word.empty()) crowd.back()->write(as_bytes(word), [](const Result<>&) {});
            });
    }
    ASSERT_TRUE(client.wait([&] { return crowd.size() == count; }));
    client.run_for(4s);

    EXPECT_EQ(world.door->connection_count() + server.connection_count(), count + 1);
    EXPECT_LE(send_time(world, client, link), 2 * alone + 5ms);
    client.run_for(10s);  // ten in all, a tick, and the time to see them go
    EXPECT_EQ(world.door->connection_count(), 1u);
    EXPECT_EQ(server.connection_count(), 0u);
    EXPECT_LE(send_time(world, client, link), 2 * alone + 5ms);
}

INSTANTIATE_TEST_SUITE_P(All, HalfOpenBy,
                         testing::Values(Way::tls, Way::http, Way::https, Way::websocket));

enum class Kind { attaches, sessions, tokens };

class Flood : public testing::TestWithParam<Kind> {};

TEST_P(Flood, of_a_hundred_thousand_frames_is_kept_in_bounds) {
    DoorFixture world;
    Client& client = world.client();
    const auto link = client.sender("eh1/Partitions/0");
    const Duration alone = send_time(world, client, link);
    const bool by_tokens = GetParam() == Kind::tokens;
    Client& wild = by_tokens ? world.stranger() : world.client();
    ClientLinkRef requests;
    if (by_tokens) requests = wild.sender("$cbs");
    const Buffer token =
        Client::request_message(a_map({{"operation", a_string("put-token")},
                                       {"type", a_string("servicebus.windows.net:sastoken")},
                                       {"name", a_string("sb://hub/")}},
                                      false),
                                make_sas("sb://hub/", "root", root_key, world.now() + 1h));
    amqp::Session* session = nullptr;
    int frames = 0;
    Duration worst{};
    while (frames < 100'000 && !wild.closed) {
        for (int i = 0; i < 1000 && !wild.closed; ++i, ++frames) {
            if (requests && !requests->link->can_send()) break;  // the hub gives no more credit
            amqp::Attach attach;
            switch (GetParam()) {
                case Kind::attaches:
                    attach.name = std::to_string(frames);
                    attach.role = amqp::Role::sender;
                    attach.target = amqp::terminus(amqp::descriptor::target, "eh1");
                    if (frames % 200 == 0) session = &wild.connection->begin();
                    wild.connection->attach(*session, std::move(attach));
                    break;
                case Kind::sessions: wild.connection->begin(); break;
                case Kind::tokens: requests->link->send({}, token, 0, true); break;
            }
        }
        wild.flush();
        wild.run_for(20ms);
        worst = std::max(worst, send_time(world, client, link));
    }

    EXPECT_LE(worst, 2 * alone + 5ms);
    // Links and sessions come to their limit; a token is a claim that replaces the one before.
    EXPECT_EQ(wild.closed, GetParam() != Kind::tokens);
    EXPECT_EQ(client.outcome(link, a_data("still there")), "");
    EXPECT_FALSE(client.closed);
}

INSTANTIATE_TEST_SUITE_P(All, Flood, testing::Values(Kind::attaches, Kind::sessions, Kind::tokens));

}  // namespace
}  // namespace evenkeel::door
