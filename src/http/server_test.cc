#include "http/server.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "http/body_stream.h"
#include "http/websocket.h"
#include "io/sim/network.h"
#include "io/sim/scheduler.h"
#include "io/tls.h"
#include "support/seed.h"

namespace evenkeel::http {
namespace {

using namespace std::chrono_literals;

// A client's end, and all that came from the server.
struct Client {
    explicit Client(std::unique_ptr<io::Socket> connected) : socket(std::move(connected)) {
        read();
    }
    void read() {
        socket->read(buffer, [this](Result<std::size_t> size) {
            ended = !size || *size == 0;
            if (ended) return;
            received += as_text(ByteView(buffer).first(*size));
            read();
        });
    }
    void send(const std::string& text) {
        sent = text;
        socket->write(as_bytes(sent), [](Result<>) {});
    }
    bool has(std::string_view text) const { return received.find(text) != std::string::npos; }

    std::unique_ptr<io::Socket> socket;
    std::vector<std::byte> buffer = std::vector<std::byte>(1000);
    std::string received;
    std::string sent;
    bool ended = false;
};

class ServerTest : public testing::Test {
protected:
    ServerTest() { listen({}); }
    ~ServerTest() override {
        clients_.clear();
        websocket_.reset();
        server_.reset();
    }

    void listen(const ServerOptions& options) {
        server_.emplace(
            loop_, options,
            [this](Request request, Callback<void(Response)> answer) {
                requests_.push_back(std::move(request));
                if (holds_answers_) {
                    held_.push_back(std::move(answer));
                } else {
                    answer({.body = "you asked " + requests_.back().path});
                }
            },
            [this](const std::string& path, const std::string& subprotocol,
                   std::unique_ptr<io::Socket> socket) {
                websocket_path_ = path;
                subprotocol_ = subprotocol;
                websocket_ = std::move(socket);
            });
        auto listener = network_.host("server", loop_).listen({"server", 0});
        endpoint_ = (*listener)->local();
        server_->serve(std::move(*listener));
    }

    Client& connect() {
        std::unique_ptr<io::Socket> socket;
        network_.host("client", client_loop_).connect(endpoint_, 30s, [&](auto connected) {
            socket = std::move(*connected);
        });
        EXPECT_TRUE(scheduler_.run_until([&] { return socket != nullptr; }, 1min));
        clients_.push_back(std::make_unique<Client>(std::move(socket)));
        return *clients_.back();
    }
    bool run_until(Callback<bool()> condition) {
        return scheduler_.run_until(std::move(condition), 5min);
    }

    // The next bytes, which may come in pieces.
    std::string read(io::Socket& socket, std::size_t count) {
        std::string text;
        std::vector<std::byte> buffer(count);
        while (text.size() < count) {
            std::optional<Result<std::size_t>> size;
            socket.read(buffer, [&](Result<std::size_t> result) { size.emplace(result); });
            if (!run_until([&] { return size.has_value(); }) || !*size || **size == 0) break;
            text += as_text(ByteView(buffer).first(**size));
        }
        return text;
    }

    io::sim::Scheduler scheduler_{test::test_seed()};
    io::sim::SimLoop loop_{scheduler_, "server"};
    io::sim::SimLoop client_loop_{scheduler_, "client"};
    io::sim::SimNetwork network_{scheduler_};
    std::optional<Server> server_;
    io::Endpoint endpoint_;
    std::vector<std::unique_ptr<Client>> clients_;
    std::vector<Request> requests_;
    bool holds_answers_ = false;
    std::vector<Callback<void(Response)>> held_;
    std::unique_ptr<io::Socket> websocket_;
    std::string websocket_path_;
    std::string subprotocol_;
};

const std::string get = "GET /a HTTP/1.1\r\nHost: server\r\n\r\n";
const std::string upgrade_fields =
    "Host: server\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: AMQPWSB10\r\n\r\n";

TEST_F(ServerTest, answers_and_keeps_the_connection) {
    auto& client = connect();
    client.send(get);
    ASSERT_TRUE(run_until([&] { return client.has("you asked /a"); }));
    client.received.clear();
    client.send("GET /b HTTP/1.1\r\nHost: server\r\n\r\n");
    ASSERT_TRUE(run_until([&] { return client.has("you asked /b"); }));
    EXPECT_EQ(requests_[0].peer.host, "client");
    EXPECT_FALSE(client.ended);
}

TEST_F(ServerTest, answers_pipelined_requests_one_at_a_time_in_order) {
    holds_answers_ = true;
    auto& client = connect();
    client.send(get + "GET /b HTTP/1.1\r\nHost: server\r\nConnection: close\r\n\r\n");
    ASSERT_TRUE(run_until([&] { return held_.size() == 1; }));
    scheduler_.run_for(1s);
    EXPECT_EQ(held_.size(), 1u);

    held_[0]({.body = "first"});
    ASSERT_TRUE(run_until([&] { return held_.size() == 2; }));
    held_[1]({.body = "second"});

    ASSERT_TRUE(run_until([&] { return client.ended; }));
    EXPECT_LT(client.received.find("first"), client.received.find("second"));
}

TEST_F(ServerTest, leaves_the_body_out_of_the_answer_to_head) {
    auto& client = connect();
    client.send("HEAD /a HTTP/1.1\r\nHost: server\r\nConnection: close\r\n\r\n");
    ASSERT_TRUE(run_until([&] { return client.ended; }));
    EXPECT_TRUE(client.has("Content-Length: 12\r\n"));
    EXPECT_TRUE(client.received.ends_with("\r\n\r\n"));
}

TEST_F(ServerTest, asks_for_the_body_when_the_client_waits) {
    auto& client = connect();
    client.send(
        "POST /a HTTP/1.1\r\nHost: server\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
    ASSERT_TRUE(run_until([&] { return client.has("HTTP/1.1 100 Continue\r\n\r\n"); }));
    client.send("body");
    ASSERT_TRUE(run_until([&] { return client.has("you asked /a"); }));
    EXPECT_EQ(requests_[0].body, "body");
}

TEST_F(ServerTest, refuses_what_is_not_http_and_closes) {
    for (const std::string& text :
         {std::string("AMQP\3\1\0\0", 8), std::string("\x16\x03\x01\x02\x00\x01", 6),
          std::string("GET / HTTP/1.1\r\n\r\n"), "GET /" + std::string(20000, 'x')}) {
        auto& client = connect();
        client.send(text);
        ASSERT_TRUE(run_until([&] { return client.ended; }));
        EXPECT_TRUE(client.received.starts_with("HTTP/1.1 4")) << client.received;
        EXPECT_TRUE(client.has("X-Frame-Options: DENY\r\n"));
        EXPECT_TRUE(client.has("Connection: close\r\n"));
    }
    EXPECT_TRUE(requests_.empty());
    clients_.clear();
    EXPECT_TRUE(run_until([&] { return server_->connection_count() == 0; }));
}

TEST_F(ServerTest, closes_clients_that_send_a_head_slowly) {
    auto& silent = connect();
    auto& halfway = connect();
    halfway.send("GET / HT");
    auto& drips = connect();
    const Instant before = scheduler_.now();
    for (int i = 0; i < 4; ++i) {
        drips.send("G");
        scheduler_.run_for(1s);
    }
    EXPECT_EQ(server_->connection_count(), 3u);

    ASSERT_TRUE(run_until([&] { return silent.ended && halfway.ended && drips.ended; }));
    EXPECT_LE(scheduler_.now() - before, Duration(5100ms));
    EXPECT_EQ(silent.received, "");
    EXPECT_TRUE(halfway.has("HTTP/1.1 408 "));
    EXPECT_TRUE(drips.has("HTTP/1.1 408 "));
    ASSERT_TRUE(run_until([&] { return server_->connection_count() == 0; }));
    EXPECT_LE(scheduler_.now() - before, Duration(8s));
}

TEST_F(ServerTest, closes_clients_that_send_a_body_slowly) {
    auto& drips = connect();
    drips.send("POST /a HTTP/1.1\r\nHost: server\r\nContent-Length: 100\r\n\r\n");
    auto& waits = connect();
    waits.send(
        "POST /a HTTP/1.1\r\nHost: server\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
    const Instant before = scheduler_.now();
    ASSERT_TRUE(run_until([&] { return waits.has("HTTP/1.1 100 Continue\r\n\r\n"); }));
    EXPECT_LE(scheduler_.now() - before, Duration(1s));
    for (int i = 0; i < 9; ++i) {
        drips.send("x");
        scheduler_.run_for(1s);
    }
    EXPECT_EQ(server_->connection_count(), 2u);

    ASSERT_TRUE(run_until([&] { return drips.ended && waits.ended; }));
    EXPECT_LE(scheduler_.now() - before, Duration(11s));
    EXPECT_TRUE(drips.has("HTTP/1.1 408 "));
    EXPECT_TRUE(waits.has("HTTP/1.1 408 "));
    drips.send(std::string(100, 'x'));  // too late: neither answered nor held
    ASSERT_TRUE(run_until([&] { return server_->connection_count() == 0; }));
    EXPECT_TRUE(requests_.empty());
}

TEST_F(ServerTest, takes_a_body_that_comes_while_it_says_that_it_waits) {
    auto& client = connect();
    client.send(
        "POST /a HTTP/1.1\r\nHost: server\r\nExpect: 100-continue\r\nContent-Length: "
        "4\r\n\r\nbody");
    ASSERT_TRUE(run_until([&] { return client.has("you asked /a"); }));
    EXPECT_EQ(requests_[0].body, "body");
}

TEST_F(ServerTest, refuses_bare_line_ends_and_unknown_expectations_at_once) {
    for (const std::string& text :
         {std::string("GET / HTTP/1.1\nHost: server\n\n"), std::string("GET / HTTP/1.1\n"),
          std::string("\n"), std::string("GET / HTTP/1.1\rHost: server\r\r"),
          std::string("POST / HTTP/1.1\r\nHost: server\r\nExpect: 200-ok\r\n"
                      "Content-Length: 4\r\n\r\n")}) {
        auto& client = connect();
        const Instant before = scheduler_.now();
        client.send(text);
        ASSERT_TRUE(run_until([&] { return client.ended; })) << text;
        EXPECT_LE(scheduler_.now() - before, Duration(1s)) << text;
        EXPECT_TRUE(client.received.starts_with("HTTP/1.1 4")) << client.received;
    }
    EXPECT_TRUE(requests_.empty());
}

TEST_F(ServerTest, an_idle_connection_makes_room_for_a_new_one) {
    listen({.connections_max = 2});
    auto& first = connect();
    auto& second = connect();
    first.send(get);
    ASSERT_TRUE(run_until([&] { return first.has("you asked"); }));
    scheduler_.run_for(1s);
    second.send(get);
    ASSERT_TRUE(run_until([&] { return second.has("you asked"); }));

    auto& third = connect();
    third.send(get);

    ASSERT_TRUE(run_until([&] { return third.has("you asked"); }));
    EXPECT_TRUE(run_until([&] { return first.ended; }));
    EXPECT_FALSE(second.ended);
    EXPECT_EQ(server_->connection_count(), 2u);
}

TEST_F(ServerTest, closes_an_idle_connection_after_thirty_seconds) {
    auto& client = connect();
    client.send(get);
    ASSERT_TRUE(run_until([&] { return client.has("you asked"); }));
    scheduler_.run_for(29s);
    EXPECT_EQ(server_->connection_count(), 1u);
    scheduler_.run_for(2s);
    EXPECT_EQ(server_->connection_count(), 0u);
}

TEST_F(ServerTest, closes_who_does_not_take_the_answer) {
    holds_answers_ = true;
    auto& client = connect();
    client.send(get);
    ASSERT_TRUE(run_until([&] { return held_.size() == 1; }));
    network_.freeze("client");
    held_[0]({.body = std::string(1 << 20, 'x')});
    scheduler_.run_for(11s);
    EXPECT_EQ(server_->connection_count(), 0u);
}

TEST_F(ServerTest, answers_504_and_drops_the_handlers_late_answer) {
    holds_answers_ = true;
    auto& client = connect();
    client.send(get);
    ASSERT_TRUE(run_until([&] { return client.ended; }));
    EXPECT_TRUE(client.has("HTTP/1.1 504 "));
    held_[0]({.body = "late"});
    EXPECT_FALSE(client.has("late"));
}

TEST_F(ServerTest, drops_an_answer_for_a_client_that_has_gone) {
    holds_answers_ = true;
    auto& client = connect();
    client.send(get);
    ASSERT_TRUE(run_until([&] { return held_.size() == 1; }));
    clients_.clear();
    scheduler_.run_for(1s);
    held_[0]({.body = "nobody is there"});
    EXPECT_TRUE(run_until([&] { return server_->connection_count() == 0; }));
}

TEST_F(ServerTest, takes_only_so_many_connections) {
    listen({.connections_max = 2});
    connect();
    connect();
    auto& third = connect();
    ASSERT_TRUE(run_until([&] { return third.ended; }));
    EXPECT_EQ(server_->connection_count(), 2u);
}

TEST_F(ServerTest, answers_what_was_asked_before_it_stops) {
    holds_answers_ = true;
    auto& busy = connect();
    busy.send(get);
    auto& idle = connect();
    ASSERT_TRUE(run_until([&] { return held_.size() == 1; }));
    bool stopped = false;

    server_->stop([&] { stopped = true; });
    ASSERT_TRUE(run_until([&] { return idle.ended; }));
    EXPECT_FALSE(stopped);
    held_[0]({.body = "answer"});

    ASSERT_TRUE(run_until([&] { return stopped; }));
    ASSERT_TRUE(run_until([&] { return busy.ended; }));
    EXPECT_TRUE(busy.has("answer"));
}

TEST_F(ServerTest, hands_a_websocket_over_with_and_without_a_slash_at_the_end) {
    for (const std::string path :
         {"/$servicebus/websocket", "/$servicebus/websocket/", "/%24servicebus/websocket"}) {
        websocket_.reset();
        auto& client = connect();
        // The first frame comes together with the request.
        client.send("GET " + path + " HTTP/1.1\r\n" + upgrade_fields +
                    std::string("\x82\x83\0\0\0\0abc", 9));
        ASSERT_TRUE(run_until([&] { return websocket_ != nullptr; }));
        EXPECT_TRUE(client.received.starts_with("HTTP/1.1 101 Switching Protocols\r\n") ||
                    client.received.empty());
        EXPECT_EQ(websocket_path_, "/$servicebus/websocket");
        EXPECT_EQ(subprotocol_, "AMQPWSB10");
        EXPECT_EQ(read(*websocket_, 3), "abc");
    }
    EXPECT_EQ(server_->connection_count(), 0u);
}

TEST_F(ServerTest, refuses_a_websocket_elsewhere) {
    auto& client = connect();
    client.send("GET /elsewhere HTTP/1.1\r\n" + upgrade_fields);
    ASSERT_TRUE(run_until([&] { return client.has("\r\n\r\n{"); }));
    EXPECT_TRUE(client.received.starts_with("HTTP/1.1 404 "));
}

TEST_F(ServerTest, asks_its_site_before_every_request_and_upgrade) {
    listen({.site = Site()});
    const auto ask = [this](const std::string& head) {
        Client& client = connect();
        client.send(head);
        EXPECT_TRUE(run_until([&] { return client.has("\r\n\r\n"); }));
        return client.received.substr(9, 3);
    };
    const std::string upgrade =
        "GET /$servicebus/websocket HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        "Sec-WebSocket-Protocol: AMQPWSB10\r\n";

    EXPECT_EQ(ask("GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n"), "421");
    EXPECT_EQ(ask("GET http://localhost/ HTTP/1.1\r\nHost: evil.example\r\n\r\n"), "421");
    EXPECT_EQ(ask(upgrade + "Host: evil.example\r\n\r\n"), "421");
    EXPECT_EQ(ask(upgrade + "Host: localhost\r\nOrigin: http://evil.example\r\n\r\n"), "403");
    EXPECT_TRUE(requests_.empty());
    EXPECT_EQ(websocket_, nullptr);
    EXPECT_EQ(ask("GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"), "200");
    EXPECT_EQ(ask(upgrade + "Host: localhost\r\nOrigin: http://localhost\r\n\r\n"), "101");
    EXPECT_TRUE(run_until([&] { return websocket_ != nullptr; }));

    server_->set_site(Site({.names = {"hub"}}));
    EXPECT_EQ(ask("GET / HTTP/1.1\r\nHost: hub\r\n\r\n"), "200");
}

TEST_F(ServerTest, carries_a_websocket_over_tls) {
    const auto identity = *io::make_self_signed({"server"});
    const auto server_tls = *io::TlsServerContext::make(identity);
    const auto client_tls = *io::TlsClientContext::make({.ca_pem = identity.certificate_pem});
    auto listener = *network_.host("server", loop_).listen({"server", 0});
    endpoint_ = listener->local();
    server_->serve(io::tls_listener(loop_, std::move(listener), *server_tls));
    std::unique_ptr<io::Socket> client;

    network_.host("client", client_loop_).connect(endpoint_, 30s, [&](auto socket) {
        client = websocket_client(
            client_loop_, io::tls_client(client_loop_, std::move(*socket), *client_tls, "server"),
            {.host = "server", .subprotocol = "amqp"});
        client->write(as_bytes("hello"), [](Result<> written) { EXPECT_TRUE(written); });
    });
    ASSERT_TRUE(run_until([&] { return websocket_ != nullptr; }));

    EXPECT_EQ(read(*websocket_, 5), "hello");
    EXPECT_EQ(subprotocol_, "amqp");
    client.reset();
}

// Gives what it is told to; counts how often it was asked, and whether it is gone.
class Told final : public BodyStream {
public:
    struct Facts {
        int asked = 0;
        bool is_gone = false;
        BodyStream::Next waiting = {};
    };
    Told(Facts& facts, std::string endless) : facts_(facts), endless_(std::move(endless)) {}
    ~Told() override { facts_.is_gone = true; }
    void next(Next done) override {
        ++facts_.asked;
        if (!endless_.empty()) return done(endless_);
        facts_.waiting = std::move(done);
    }

private:
    Facts& facts_;
    const std::string endless_;
};

class BodyStreamTest : public ServerTest {
protected:
    BodyStreamTest() { holds_answers_ = true; }
    // The answer to the client's request is a stream.
    Client& begin(std::string endless = {}) {
        Client& client = connect();
        client.send(get);
        EXPECT_TRUE(run_until([&] { return held_.size() == 1; }));
        held_.back()({.body = "first;",
                      .content_type = "text/event-stream",
                      .stream = std::make_shared<Told>(facts_, std::move(endless))});
        held_.clear();
        EXPECT_TRUE(run_until([&] { return facts_.asked > 0; }));
        return client;
    }

    Told::Facts facts_;
};

TEST_F(BodyStreamTest, comes_in_chunks_until_it_is_over) {
    Client& client = begin();
    EXPECT_TRUE(run_until([&] { return client.has("6\r\nfirst;\r\n"); })) << client.received;
    EXPECT_TRUE(client.has("Transfer-Encoding: chunked")) << client.received;
    EXPECT_FALSE(client.has("Content-Length"));
    scheduler_.run_for(2min);
    ASSERT_FALSE(client.ended) << "a stream may be silent for long";

    std::exchange(facts_.waiting, nullptr)("second");
    EXPECT_TRUE(run_until([&] { return client.has("6\r\nsecond\r\n"); }));
    EXPECT_TRUE(run_until([&] { return static_cast<bool>(facts_.waiting); }));
    std::exchange(facts_.waiting, nullptr)(std::nullopt);
    EXPECT_TRUE(run_until([&] { return client.ended; }));
    EXPECT_TRUE(client.received.ends_with("0\r\n\r\n"));
    EXPECT_TRUE(run_until([&] { return facts_.is_gone; }));
}

TEST_F(BodyStreamTest, ends_for_a_client_that_never_reads) {
    std::unique_ptr<io::Socket> socket;
    network_.host("client", client_loop_).connect(endpoint_, 30s, [&](auto connected) {
        socket = std::move(*connected);
    });
    ASSERT_TRUE(run_until([&] { return socket != nullptr; }));
    socket->write(as_bytes(get), [](Result<>) {});
    ASSERT_TRUE(run_until([&] { return held_.size() == 1; }));
    held_.back()({.stream = std::make_shared<Told>(facts_, std::string(100'000, 'x'))});
    held_.clear();

    EXPECT_TRUE(run_until([&] { return facts_.is_gone; }));
    EXPECT_LT(facts_.asked, 1000) << "it is not asked for what nobody takes";
    EXPECT_EQ(server_->connection_count(), 0U);
}

TEST_F(BodyStreamTest, ends_when_its_client_leaves_at_any_byte) {
    for (std::size_t bytes = 0; bytes < 600; bytes += 7) {
        facts_ = {};
        Client& client = begin();
        run_until([&] { return client.received.size() >= bytes || facts_.waiting; });
        client.socket->close();
        EXPECT_TRUE(run_until([&] { return facts_.is_gone; })) << bytes;
        EXPECT_TRUE(run_until([&] { return server_->connection_count() == 0; })) << bytes;
    }
}

TEST_F(BodyStreamTest, ends_with_the_server) {
    Client& client = begin();
    bool stopped = false;
    server_->stop([&] { stopped = true; });
    EXPECT_TRUE(run_until([&] { return stopped && client.ended; }));
    EXPECT_TRUE(facts_.is_gone);
}

TEST_F(BodyStreamTest, is_cut_for_a_client_that_floods_it) {
    Client& client = begin();
    const std::string flood(3'000'000, 'x');
    client.send(flood);
    EXPECT_TRUE(run_until([&] { return facts_.is_gone; }));
}

}  // namespace
}  // namespace evenkeel::http
