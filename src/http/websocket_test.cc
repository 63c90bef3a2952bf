#include "http/websocket.h"

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "http/server.h"
#include "io/layered_fixture.h"
#include "support/seed.h"

namespace evenkeel::http {
namespace {

using namespace std::chrono_literals;
using SocketCallback = Callback<void(Result<std::unique_ptr<io::Socket>>)>;

struct WebSocketWraps final : io::Wraps {
    void accept(io::Loop& loop, std::unique_ptr<io::Socket> socket, SocketCallback done) override {
        if (!server) {
            server.emplace(
                loop, ServerOptions{}, [](Request, Callback<void(Response)>) {},
                [this](const std::string&, const std::string&, std::unique_ptr<io::Socket> made) {
                    auto callback = std::move(waiting.front());
                    waiting.pop_front();
                    callback(std::move(made));
                });
        }
        waiting.push_back(std::move(done));
        server->add(std::move(socket));
    }
    void connect(io::Loop& loop, std::unique_ptr<io::Socket> socket, const std::string& host,
                 SocketCallback done) override {
        done(websocket_client(loop, std::move(socket), {.host = host}));
    }
    std::deque<SocketCallback> waiting;
    std::optional<Server> server;
};

std::unique_ptr<io::NetworkWorld> a_system_world() {
    return std::make_unique<io::LayeredSystemWorld>(std::make_unique<WebSocketWraps>());
}
std::unique_ptr<io::NetworkWorld> a_simulated_world() {
    return std::make_unique<io::LayeredSimWorld>(test::test_seed(),
                                                 std::make_unique<WebSocketWraps>());
}

}  // namespace
}  // namespace evenkeel::http

namespace evenkeel::io {
INSTANTIATE_TEST_SUITE_P(WebSocketSystem, NetworkContract, testing::Values(&http::a_system_world));
INSTANTIATE_TEST_SUITE_P(WebSocketSimulated, NetworkContract,
                         testing::Values(&http::a_simulated_world));
}  // namespace evenkeel::io

namespace evenkeel::http {
namespace {

std::string bytes_of(std::initializer_list<unsigned> values) {
    std::string text;
    for (const unsigned value : values) text += static_cast<char>(value);
    return text;
}

struct FrameOptions {
    unsigned first = 0x82;  // the last part of a binary message
    std::string payload = {};
    bool masked = true;
};

std::string a_frame(const FrameOptions& options) {
    const std::size_t size = options.payload.size();
    std::string frame = bytes_of({options.first});
    const unsigned mask_bit = options.masked ? 0x80u : 0u;
    if (size < 126) {
        frame += bytes_of({mask_bit | static_cast<unsigned>(size)});
    } else {
        frame += bytes_of({mask_bit | 126u, static_cast<unsigned>(size >> 8),
                           static_cast<unsigned>(size & 0xff)});
    }
    const std::string mask = bytes_of({0x11, 0xa2, 0x33, 0xf4});
    if (options.masked) frame += mask;
    for (std::size_t i = 0; i < size; ++i) {
        const int key = options.masked ? mask[i % 4] : 0;
        frame += static_cast<char>(options.payload[i] ^ key);
    }
    return frame;
}

// What the layer gives for the wire bytes, in pieces cut by chance.
struct Outcome {
    std::string plain;
    std::string output;
    std::optional<Error> error;
    bool ended = false;
};

void take_all(io::Layer& layer, Random& random, Outcome& outcome) {
    while (!outcome.error) {
        std::vector<std::byte> buffer(1 + random.below(300));
        const auto size = layer.take(buffer);
        if (!size) {
            outcome.error = size.error();
        } else if (*size == 0) {
            break;
        } else {
            outcome.plain += as_text(ByteView(buffer).first(*size));
        }
    }
    std::vector<std::byte> output;
    layer.take_output(output);
    outcome.output += as_text(output);
    outcome.ended = layer.has_ended();
}

Outcome feed(io::Layer& layer, std::string_view wire, Random& random) {
    Outcome outcome;
    while (!wire.empty() && !outcome.error) {
        const std::size_t size = 1 + random.below(std::min<std::size_t>(wire.size(), 50));
        const auto received = layer.receive(as_bytes(wire.substr(0, size)));
        if (!received) outcome.error = received.error();
        wire.remove_prefix(size);
        take_all(layer, random, outcome);
    }
    return outcome;
}

Outcome served(std::string_view wire) {
    Random random(test::test_seed());
    const auto layer = websocket_server_layer();
    return feed(*layer, wire, random);
}

// The code of a Close that a server sent.
unsigned close_code(const std::string& output) {
    if (output.size() < 4 || static_cast<unsigned char>(output[0]) != 0x88) return 0;
    return static_cast<unsigned char>(output[2]) * 256u + static_cast<unsigned char>(output[3]);
}

TEST(WebSocket, joins_messages_and_their_parts_into_one_stream) {
    const std::string wire =
        a_frame({.first = 0x02, .payload = "AM"}) + a_frame({.first = 0x00, .payload = "QP"}) +
        a_frame({.first = 0x80, .payload = std::string(300, 'x')}) +
        a_frame({.first = 0x82, .payload = ""}) + a_frame({.first = 0x82, .payload = "end"});

    const auto outcome = served(wire);

    EXPECT_FALSE(outcome.error);
    EXPECT_EQ(outcome.plain, "AMQP" + std::string(300, 'x') + "end");
}

TEST(WebSocket, answers_a_ping_also_between_the_parts_of_a_message) {
    const auto outcome = served(a_frame({.first = 0x02, .payload = "a"}) +
                                a_frame({.first = 0x89, .payload = "are you there"}) +
                                a_frame({.first = 0x80, .payload = "b"}));

    EXPECT_EQ(outcome.plain, "ab");
    EXPECT_EQ(outcome.output,
              a_frame({.first = 0x8a, .payload = "are you there", .masked = false}));
}

TEST(WebSocket, answers_only_the_last_of_many_pings_at_once) {
    const auto layer = websocket_server_layer();
    std::string wire;
    for (int i = 0; i < 1000; ++i) wire += a_frame({.first = 0x89, .payload = std::to_string(i)});
    Random random(1);
    Outcome outcome;

    ASSERT_TRUE(layer->receive(as_bytes(wire)));
    take_all(*layer, random, outcome);

    EXPECT_EQ(outcome.output, a_frame({.first = 0x8a, .payload = "999", .masked = false}));
}

TEST(WebSocket, ignores_a_pong) {
    const auto outcome =
        served(a_frame({.first = 0x8a, .payload = "x"}) + a_frame({.payload = "y"}));
    EXPECT_EQ(outcome.plain, "y");
    EXPECT_EQ(outcome.output, "");
}

TEST(WebSocket, ends_with_a_close) {
    for (const std::string& payload : {std::string(), bytes_of({0x03, 0xe8}),
                                       bytes_of({0x03, 0xe9}) + "going", bytes_of({0x0f, 0xa0})}) {
        const auto outcome =
            served(a_frame({.payload = "last"}) + a_frame({.first = 0x88, .payload = payload}) +
                   a_frame({.payload = "too late"}));

        EXPECT_FALSE(outcome.error);
        EXPECT_TRUE(outcome.ended);
        EXPECT_EQ(outcome.plain, "last");
    }
}

struct BadFrame {
    std::string what;
    std::string wire;
    unsigned code;
};

std::vector<BadFrame> bad_frames() {
    const std::string mask = "mask";
    return {
        {"text", a_frame({.first = 0x81, .payload = "hi"}), 1003},
        {"part of a text", a_frame({.first = 0x01, .payload = "hi"}), 1003},
        {"no mask", a_frame({.payload = "hi", .masked = false}), 1002},
        {"reserved bit", a_frame({.first = 0xc2, .payload = "hi"}), 1002},
        {"reserved kind", a_frame({.first = 0x83, .payload = "hi"}), 1002},
        {"reserved control", a_frame({.first = 0x8b, .payload = "hi"}), 1002},
        {"continues nothing", a_frame({.first = 0x80, .payload = "hi"}), 1002},
        {"message within a message",
         a_frame({.first = 0x02, .payload = "a"}) + a_frame({.first = 0x82, .payload = "b"}), 1002},
        {"ping in parts", a_frame({.first = 0x09, .payload = "a"}), 1002},
        {"long ping", a_frame({.first = 0x89, .payload = std::string(126, 'x')}), 1002},
        {"half a close code", a_frame({.first = 0x88, .payload = "x"}), 1002},
        {"close code 1005", a_frame({.first = 0x88, .payload = bytes_of({0x03, 0xed})}), 1002},
        {"close code 0", a_frame({.first = 0x88, .payload = bytes_of({0, 0})}), 1002},
        {"longer form of 5", bytes_of({0x82, 0xfe, 0, 5}) + mask, 1002},
        {"longest form of 300", bytes_of({0x82, 0xff, 0, 0, 0, 0, 0, 0, 1, 44}) + mask, 1002},
        {"17 MiB", bytes_of({0x82, 0xff, 0, 0, 0, 0, 1, 0x10, 0, 0}) + mask, 1009},
        {"2^63", bytes_of({0x82, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0}) + mask, 1009},
    };
}

TEST(WebSocket, refuses_what_breaks_the_protocol) {
    for (const auto& bad : bad_frames()) {
        SCOPED_TRACE(bad.what);
        const auto outcome = served(bad.wire);
        ASSERT_TRUE(outcome.error);
        EXPECT_EQ(outcome.error->code, ErrorCode::invalid_argument);
        EXPECT_EQ(close_code(outcome.output), bad.code);
    }
}

// One end of a connection is a WebSocket, the other writes bytes as they are.
class BadPeer : public testing::Test {
protected:
    ~BadPeer() override {
        socket_.reset();
        plain_.reset();
        peer_.reset();
    }
    void connect() {
        socket_.reset();
        plain_.reset();
        peer_.reset();
        auto listener = *world_.plain_server().listen({"server", 0});
        listener->accept([this](auto socket) { plain_ = std::move(*socket); });
        world_.plain_client().connect(listener->local(), 30s,
                                      [this](auto socket) { peer_ = std::move(*socket); });
        ASSERT_TRUE(world_.run_until([this] { return plain_ && peer_; }));
    }
    void read_until(std::optional<Error>& error) {
        socket_->read(buffer_, [this, &error](auto size) {
            if (size) return read_until(error);
            error = size.error();
        });
    }

    io::LayeredSimWorld world_{test::test_seed(), std::make_unique<WebSocketWraps>()};
    std::unique_ptr<io::Socket> plain_;
    std::unique_ptr<io::Socket> peer_;
    std::unique_ptr<io::Socket> socket_;
    std::vector<std::byte> buffer_ = std::vector<std::byte>(100);
};

TEST_F(BadPeer, ends_the_read_and_the_write_of_a_server_with_an_error) {
    const std::vector<std::byte> answer(4 << 20);
    for (const auto& bad : bad_frames()) {
        for (const bool while_writing : {false, true}) {
            SCOPED_TRACE(bad.what + (while_writing ? " while writing" : ""));
            connect();
            socket_ = websocket_server(world_.server_loop(), std::move(plain_), {});
            std::optional<Error> error;
            std::optional<Result<>> written;
            read_until(error);
            if (while_writing) {
                socket_->write(answer, [&](auto done) { written.emplace(std::move(done)); });
            }

            peer_->write(as_bytes(bad.wire), [](Result<>) {});

            ASSERT_TRUE(world_.run_until(
                [&] { return error.has_value() && written.has_value() == while_writing; }));
            EXPECT_EQ(error->code, ErrorCode::invalid_argument);
            EXPECT_EQ(written.has_value() && !written->ok(), while_writing);
        }
    }
}

TEST(WebSocket, reports_a_stream_that_ends_without_a_close) {
    const auto begun = websocket_server_layer();
    ASSERT_TRUE(begun->receive(as_bytes(a_frame({.payload = "x"}))));
    EXPECT_EQ(begun->receive_end().error().code, ErrorCode::unavailable);

    const auto untouched = websocket_server_layer();
    EXPECT_TRUE(untouched->receive_end()) << "nothing is missing of nothing";
    EXPECT_TRUE(untouched->has_ended());
}

Request an_upgrade() {
    Request request;
    request.method = "GET";
    request.path = "/$servicebus/websocket";
    request.fields = {{"Host", "localhost"},
                      {"Upgrade", "websocket"},
                      {"Connection", "keep-alive, Upgrade"},
                      {"Sec-WebSocket-Version", "13"},
                      {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="},
                      {"Sec-WebSocket-Protocol", "AMQPWSB10"}};
    return request;
}

const std::vector<std::string> spoken = {"AMQPWSB10", "amqp"};

std::string response_field(const Response& response, std::string_view name) {
    Request request;
    request.fields = response.fields;
    return request.field(name);
}

void set(Request& request, std::string_view name, const std::string& value) {
    for (auto& field : request.fields) {
        if (field.name == name) field.value = value;
    }
}

TEST(WebSocketUpgrade, answers_the_key_of_the_standard_and_echoes_the_subprotocol) {
    const auto answer = answer_upgrade(an_upgrade(), spoken);

    EXPECT_EQ(answer.response.status, 101);
    EXPECT_EQ(answer.subprotocol, "AMQPWSB10");
    EXPECT_EQ(response_field(answer.response, "Sec-WebSocket-Accept"),
              "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    EXPECT_EQ(response_field(answer.response, "Sec-WebSocket-Protocol"), "AMQPWSB10");
}

TEST(WebSocketUpgrade, takes_the_first_subprotocol_that_is_spoken) {
    auto request = an_upgrade();
    set(request, "Sec-WebSocket-Protocol", "mqtt, amqp ,AMQPWSB10");
    EXPECT_EQ(answer_upgrade(request, spoken).subprotocol, "amqp");
}

TEST(WebSocketUpgrade, refuses_with_a_status_that_says_why) {
    struct Case {
        std::string field;
        std::string value;
        int status;
    };
    const Case cases[] = {{"Sec-WebSocket-Version", "8", 426},
                          {"Sec-WebSocket-Key", "", 400},
                          {"Sec-WebSocket-Key", "short==", 400},
                          {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=!", 400},
                          {"Connection", "keep-alive", 400},
                          {"Sec-WebSocket-Protocol", "mqtt", 400},
                          {"Sec-WebSocket-Protocol", "", 400}};
    for (const auto& bad : cases) {
        auto request = an_upgrade();
        set(request, bad.field, bad.value);
        EXPECT_EQ(answer_upgrade(request, spoken).response.status, bad.status)
            << bad.field << ": " << bad.value;
    }
    auto request = an_upgrade();
    request.method = "POST";
    EXPECT_EQ(answer_upgrade(request, spoken).response.status, 400);
}

// The answer of a server to what a client layer asked.
Outcome answered(std::string_view answer) {
    Random random(test::test_seed());
    const auto layer = websocket_client_layer({.host = "hub"});
    return feed(*layer, answer, random);
}

TEST(WebSocketClient, names_why_the_server_refused) {
    EXPECT_EQ(answered("HTTP/1.1 404 Not Found\r\n\r\n").error->code, ErrorCode::not_found);
    EXPECT_EQ(answered("HTTP/1.1 503 Busy\r\n\r\n").error->code, ErrorCode::unavailable);
    EXPECT_EQ(answered("HTTP/1.1 400 Bad\r\n\r\n").error->code, ErrorCode::invalid_argument);
    EXPECT_EQ(answered("AMQP\r\n\r\n").error->code, ErrorCode::invalid_argument);
    EXPECT_EQ(answered("HTTP/1.1 101 X\r\nno field\r\n\r\n").error->code,
              ErrorCode::invalid_argument);
    EXPECT_EQ(answered("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                       "Connection: Upgrade\r\nSec-WebSocket-Accept: forged\r\n"
                       "Sec-WebSocket-Protocol: AMQPWSB10\r\n\r\n")
                  .error->code,
              ErrorCode::invalid_argument);
    EXPECT_EQ(answered(std::string(20000, 'x')).error->code, ErrorCode::invalid_argument);
}

TEST(WebSocketClient, leaves_before_ready_with_unavailable) {
    const auto layer = websocket_client_layer({.host = "hub"});
    EXPECT_EQ(layer->receive_end().error().code, ErrorCode::unavailable);
}

}  // namespace
}  // namespace evenkeel::http
