// What every Network promises (io/socket.h), as tests that system/ and sim/ both run:
//
//     INSTANTIATE_TEST_SUITE_P(System, NetworkContract, testing::Values(&a_system_world));
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "io/socket.h"

namespace evenkeel::io {

// Two hosts and the loop, or loops, that they run on.
class NetworkWorld {
public:
    virtual ~NetworkWorld() = default;
    virtual Network& server() = 0;
    virtual Network& client() = 0;
    // Where the server can listen, and the client connect.
    virtual std::string server_host() const = 0;
    // Runs `task` where sockets may be called, and waits for it.
    virtual void run(Task task) = 0;
    // Lets the world go on until `condition`, tested on the loop, holds; false if it never does.
    virtual bool run_until(Callback<bool()> condition) = 0;
};

class NetworkContract : public testing::TestWithParam<std::unique_ptr<NetworkWorld> (*)()> {
protected:
    using Accepted = std::optional<Result<std::unique_ptr<Socket>>>;

    // Sends back all it reads, then ends its side; one piece at a time.
    struct Echo {
        explicit Echo(Socket& peer) : socket(peer) { next(); }
        void next() {
            socket.read(buffer, [this](Result<std::size_t> size) {
                if (!size) return;
                if (*size == 0) return socket.finish();
                socket.write(ByteView(buffer).first(*size), [this](Result<> written) {
                    if (written) next();
                });
            });
        }
        Socket& socket;
        std::vector<std::byte> buffer = std::vector<std::byte>(7000);
    };

    // Reads to the end, or to an error.
    struct Sink {
        explicit Sink(Socket& peer) : socket(peer) { next(); }
        void next() {
            socket.read(buffer, [this](Result<std::size_t> size) {
                if (!size) {
                    error = size.error();
                    return;
                }
                ended = *size == 0;
                bytes.insert(bytes.end(), buffer.begin(),
                             buffer.begin() + static_cast<std::ptrdiff_t>(*size));
                if (!ended) next();
            });
        }
        Socket& socket;
        std::vector<std::byte> buffer = std::vector<std::byte>(5000);
        std::vector<std::byte> bytes;
        bool ended = false;
        std::optional<Error> error;
    };

    ~NetworkContract() override {
        world_->run([this] {
            client_.reset();
            server_.reset();
            listener_.reset();
        });
    }

    Network& server() { return world_->server(); }
    Network& client() { return world_->client(); }
    void run(Task task) { world_->run(std::move(task)); }
    bool run_until(Callback<bool()> condition) { return world_->run_until(std::move(condition)); }

    void listen() {
        run([this] {
            auto listener = server().listen({world_->server_host(), 0});
            ASSERT_TRUE(listener) << to_string(listener.error());
            listener_ = std::move(*listener);
        });
    }

    // Afterwards server_ and client_ are the two ends.
    void connect_pair() {
        listen();
        run([this] {
            listener_->accept([this](auto accepted) { server_ = std::move(*accepted); });
            client().connect(listener_->local(), std::chrono::seconds(30),
                             [this](auto connected) { client_ = std::move(*connected); });
        });
        ASSERT_TRUE(run_until([this] { return server_ && client_; }));
    }

    std::optional<Error> connect_error(const Endpoint& endpoint) {
        Accepted result;
        run([&] {
            client().connect(endpoint, std::chrono::seconds(30),
                             [&](auto connected) { result.emplace(std::move(connected)); });
            EXPECT_FALSE(result) << "called back inside of connect()";
        });
        EXPECT_TRUE(run_until([&] { return result.has_value(); }));
        if (!result || result->ok()) return std::nullopt;
        return result->error();
    }

    std::unique_ptr<NetworkWorld> world_ = GetParam()();
    std::unique_ptr<Listener> listener_;
    std::unique_ptr<Socket> server_;
    std::unique_ptr<Socket> client_;
};

TEST_P(NetworkContract, carries_a_mebibyte_there_and_back_unchanged) {
    connect_pair();
    std::vector<std::byte> sent(1 << 20);
    Random(7).fill(sent);
    std::optional<Echo> echo;
    std::optional<Sink> sink;

    run([&] {
        echo.emplace(*server_);
        sink.emplace(*client_);
        client_->write(sent, [&](Result<> written) {
            EXPECT_TRUE(written);
            client_->finish();
        });
    });

    ASSERT_TRUE(run_until([&] { return sink->ended; }));
    EXPECT_TRUE(sink->bytes == sent);
}

TEST_P(NetworkContract, goes_on_towards_us_after_we_ended_our_side) {
    connect_pair();
    std::optional<Sink> at_server;
    std::optional<Sink> at_client;
    run([&] {
        at_server.emplace(*server_);
        at_client.emplace(*client_);
        client_->write(as_bytes("question"), [&](Result<> written) { EXPECT_TRUE(written); });
        client_->finish();  // while the write may be under way: it still counts
    });
    ASSERT_TRUE(run_until([&] { return at_server->ended; }));

    run([&] {
        server_->write(as_bytes("answer"), [&](Result<> written) {
            EXPECT_TRUE(written);
            server_->finish();
        });
    });

    ASSERT_TRUE(run_until([&] { return at_client->ended; }));
    EXPECT_EQ(as_text(at_server->bytes), "question");
    EXPECT_EQ(as_text(at_client->bytes), "answer");
}

TEST_P(NetworkContract, reads_0_after_the_peer_closed) {
    connect_pair();
    std::optional<Sink> sink;

    run([&] {
        sink.emplace(*client_);
        server_->write(as_bytes("last words"), [&](Result<>) { server_->close(); });
    });

    ASSERT_TRUE(run_until([&] { return sink->ended; }));
    EXPECT_EQ(as_text(sink->bytes), "last words");
}

TEST_P(NetworkContract, fails_writes_to_a_peer_that_has_gone_with_unavailable) {
    connect_pair();
    const std::vector<std::byte> bytes(100'000);
    std::optional<Error> error;
    struct Writer {
        Socket& socket;
        const std::vector<std::byte>& bytes;
        std::optional<Error>& error;
        void next() {
            socket.write(bytes, [this](Result<> written) {
                if (written) return next();
                error = written.error();
            });
        }
    };
    Writer writer{*client_, bytes, error};

    run([&] {
        server_.reset();
        writer.next();
    });

    ASSERT_TRUE(run_until([&] { return error.has_value(); }));
    EXPECT_EQ(error->code, ErrorCode::unavailable) << to_string(*error);
}

TEST_P(NetworkContract, holds_a_write_until_the_peer_reads) {
    connect_pair();
    const std::vector<std::byte> bytes(32 << 20);  // more than any socket buffer
    bool written = false;
    std::optional<Sink> sink;

    run([&] {
        client_->write(bytes, [&](Result<> result) {
            EXPECT_TRUE(result);
            written = true;
            client_->finish();
        });
    });
    run([&] {
        EXPECT_FALSE(written);
        sink.emplace(*server_);
    });

    ASSERT_TRUE(run_until([&] { return sink->ended; }));
    EXPECT_TRUE(written);
    EXPECT_EQ(sink->bytes.size(), bytes.size());
}

TEST_P(NetworkContract, ends_pending_calls_with_cancelled_on_close) {
    connect_pair();
    const std::vector<std::byte> bytes(32 << 20);
    std::vector<std::byte> buffer(10);
    std::optional<Error> read;
    std::optional<Error> write;

    run([&] {
        client_->read(buffer, [&](Result<std::size_t> size) { read = size.error(); });
        client_->write(bytes, [&](Result<> written) { write = written.error(); });
        client_->close();
        EXPECT_FALSE(read) << "called back inside of close()";
    });

    ASSERT_TRUE(run_until([&] { return read && write; }));
    EXPECT_EQ(read->code, ErrorCode::cancelled);
    EXPECT_EQ(write->code, ErrorCode::cancelled);
}

TEST_P(NetworkContract, drops_callbacks_with_the_socket_and_the_listener) {
    connect_pair();
    auto held = std::make_shared<int>(7);
    std::vector<std::byte> buffer(10);
    bool called = false;

    run([&] {
        client_->read(buffer, [&, held](Result<std::size_t>) { called = true; });
        listener_->accept([&, held](auto) { called = true; });
        client_->close();
        client_.reset();
        listener_.reset();
        EXPECT_EQ(held.use_count(), 1);
    });

    std::optional<Sink> sink;
    run([&] { sink.emplace(*server_); });
    // close() ends at once: the peer sees the end, or a reset if something was still under way.
    ASSERT_TRUE(run_until([&] { return sink->ended || sink->error; }));
    EXPECT_FALSE(called);
}

TEST_P(NetworkContract, lets_a_callback_destroy_its_own_socket) {
    connect_pair();
    std::vector<std::byte> buffer(10);
    bool called = false;

    run([&] {
        client_->read(buffer, [&](Result<std::size_t>) {
            client_.reset();
            called = true;
        });
        server_->write(as_bytes("x"), [](Result<>) {});
    });

    EXPECT_TRUE(run_until([&] { return called; }));
}

TEST_P(NetworkContract, takes_connections_that_came_before_accept) {
    listen();
    run([&] {
        client().connect(listener_->local(), std::chrono::seconds(30),
                         [&](auto connected) { client_ = std::move(*connected); });
    });
    ASSERT_TRUE(run_until([&] { return client_ != nullptr; }));

    run([&] { listener_->accept([&](auto accepted) { server_ = std::move(*accepted); }); });

    ASSERT_TRUE(run_until([&] { return server_ != nullptr; }));
    run([&] { EXPECT_EQ(client_->peer(), listener_->local()); });
}

TEST_P(NetworkContract, port_0_gives_a_real_port_to_one_listener) {
    listen();

    run([&] {
        const Endpoint taken = listener_->local();
        EXPECT_NE(taken.port, 0);
        const auto second = server().listen(taken);
        ASSERT_FALSE(second);
        EXPECT_EQ(second.error().code, ErrorCode::already_exists) << to_string(second.error());
        listener_.reset();
        EXPECT_TRUE(server().listen(taken)) << "the port is free again";
    });
}

TEST_P(NetworkContract, refuses_to_listen_on_what_is_not_an_address_of_this_host) {
    run([&] {
        const auto listener = server().listen({"no such address", 0});
        ASSERT_FALSE(listener);
        EXPECT_EQ(listener.error().code, ErrorCode::invalid_argument);
    });
}

TEST_P(NetworkContract, fails_a_connect_with_unavailable_if_nobody_listens) {
    listen();
    Endpoint free_port;
    run([&] {
        free_port = listener_->local();
        listener_.reset();
    });

    const auto error = connect_error(free_port);

    ASSERT_TRUE(error);
    EXPECT_EQ(error->code, ErrorCode::unavailable) << to_string(*error);
}

}  // namespace evenkeel::io
