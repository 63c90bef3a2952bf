#include "io/system/network.h"

#include <iterator>
#include <memory>
#include <optional>
#include <thread>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "io/socket_contract.h"

namespace evenkeel::io {
namespace {

using namespace std::chrono_literals;

class SystemWorld final : public NetworkWorld {
public:
    explicit SystemWorld(std::string host) : host_(std::move(host)) { loop_.start(); }
    ~SystemWorld() override { loop_.stop(); }

    Network& server() override { return network_; }
    Network& client() override { return network_; }
    std::string server_host() const override { return host_; }
    void run(Task task) override { system::run_and_wait(loop_, std::move(task)); }
    bool run_until(Callback<bool()> condition) override {
        const SystemClock clock;
        const Instant end = clock.now() + 30s;
        for (bool holds = false; clock.now() < end; std::this_thread::yield()) {
            run([&] { holds = condition(); });
            if (holds) return true;
        }
        return false;
    }

private:
    const std::string host_;
    system::LoopThread loop_{"loop/0"};
    system::SystemNetwork network_{loop_};
};

std::unique_ptr<NetworkWorld> a_v4_world() {
    return std::make_unique<SystemWorld>("127.0.0.1");
}

std::unique_ptr<NetworkWorld> a_v6_world() {
    return std::make_unique<SystemWorld>("::1");
}

bool has_v6() {
    system::LoopThread loop("loop/0");
    system::SystemNetwork network(loop);
    return network.listen({"::1", 0}).ok();
}

INSTANTIATE_TEST_SUITE_P(SystemV4, NetworkContract, testing::Values(&a_v4_world));
INSTANTIATE_TEST_SUITE_P(SystemV6, NetworkContract,
                         testing::ValuesIn(has_v6() ? std::vector{&a_v6_world}
                                                    : std::vector<decltype(&a_v6_world)>{}));
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(NetworkContract);

TEST(SystemNetwork, connects_to_a_name) {
    SystemWorld world("localhost");
    std::unique_ptr<Listener> listener;
    std::unique_ptr<Socket> client;

    world.run([&] {
        listener = *world.server().listen({"localhost", 0});
        world.client().connect({"localhost", listener->local().port}, 30s, [&](auto connected) {
            ASSERT_TRUE(connected) << to_string(connected.error());
            client = std::move(*connected);
        });
    });

    ASSERT_TRUE(world.run_until([&] { return client != nullptr; }));
    world.run([&] {
        EXPECT_EQ(client->peer(), listener->local());
        client.reset();
        listener.reset();
    });
}

// A port that answers nobody: its queue of connections is full, and nobody accepts.
class SilentPort {
public:
    SilentPort() {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        bind(sockets_[0], reinterpret_cast<const sockaddr*>(&address), sizeof address);
        listen(sockets_[0], 0);
        socklen_t size = sizeof address;
        getsockname(sockets_[0], reinterpret_cast<sockaddr*>(&address), &size);
        port_ = ntohs(address.sin_port);
        for (std::size_t i = 1; i < std::size(sockets_); ++i) {
            ::connect(sockets_[i], reinterpret_cast<const sockaddr*>(&address), sizeof address);
        }
    }
    ~SilentPort() {
        for (const int descriptor : sockets_) close(descriptor);
    }
    SilentPort(const SilentPort&) = delete;
    SilentPort& operator=(const SilentPort&) = delete;

    std::uint16_t port() const { return port_; }

private:
    static int a_socket() { return socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0); }

    int sockets_[4] = {a_socket(), a_socket(), a_socket(), a_socket()};
    std::uint16_t port_ = 0;
};

TEST(SystemNetwork, ends_a_connect_with_timed_out_when_nobody_answers_in_time) {
    SystemWorld world("127.0.0.1");
    const SilentPort silent;
    std::optional<Result<std::unique_ptr<Socket>>> result;

    world.run([&] {
        world.client().connect({"127.0.0.1", silent.port()}, 5ms,
                               [&](auto connected) { result.emplace(std::move(connected)); });
    });

    ASSERT_TRUE(world.run_until([&] { return result.has_value(); }));
    ASSERT_FALSE(*result);
    EXPECT_EQ(result->error().code, ErrorCode::timed_out) << to_string(result->error());
}

TEST(SystemNetwork, fails_a_connect_to_a_name_that_does_not_resolve) {
    SystemWorld world("127.0.0.1");
    std::optional<Error> error;

    world.run([&] {
        world.client().connect({"not a name", 1}, 30s,
                               [&](auto connected) { error = connected.error(); });
    });

    ASSERT_TRUE(world.run_until([&] { return error.has_value(); }));
    EXPECT_EQ(error->code, ErrorCode::not_found) << to_string(*error);
}

TEST(SystemNetwork, drops_the_callbacks_of_connects_when_it_goes) {
    system::LoopThread loop("loop/0");
    auto network = std::make_unique<system::SystemNetwork>(loop);
    auto held = std::make_shared<int>(7);
    bool called = false;
    network->connect({"127.0.0.1", 1}, 30s, [&, held](auto) { called = true; });

    network.reset();
    loop.start();
    system::run_and_wait(loop, [] {});
    loop.stop();

    EXPECT_EQ(held.use_count(), 1);
    EXPECT_FALSE(called);
}

// While it lives, the process cannot open another descriptor.
class NoDescriptorsLeft {
public:
    NoDescriptorsLeft() {
        getrlimit(RLIMIT_NOFILE, &before_);
        const int lowest_free = open("/dev/null", O_RDONLY | O_CLOEXEC);
        close(lowest_free);
        rlimit none = before_;
        none.rlim_cur = static_cast<rlim_t>(lowest_free);
        setrlimit(RLIMIT_NOFILE, &none);
    }
    ~NoDescriptorsLeft() { setrlimit(RLIMIT_NOFILE, &before_); }
    NoDescriptorsLeft(const NoDescriptorsLeft&) = delete;
    NoDescriptorsLeft& operator=(const NoDescriptorsLeft&) = delete;

private:
    rlimit before_{};
};

TEST(SystemNetwork, is_overloaded_without_descriptors_and_recovers) {
    SystemWorld world("127.0.0.1");
    std::unique_ptr<Listener> listener;
    std::unique_ptr<Socket> client;
    std::unique_ptr<Socket> server;
    std::optional<Error> error;
    world.run([&] {
        listener = *world.server().listen({"127.0.0.1", 0});
        world.client().connect(listener->local(), 30s,
                               [&](auto connected) { client = std::move(*connected); });
    });
    ASSERT_TRUE(world.run_until([&] { return client != nullptr; }));

    {
        const NoDescriptorsLeft limit;
        world.run([&] { listener->accept([&](auto accepted) { error = accepted.error(); }); });
        ASSERT_TRUE(world.run_until([&] { return error.has_value(); }));
    }
    EXPECT_EQ(error->code, ErrorCode::overloaded) << to_string(*error);

    world.run([&] { listener->accept([&](auto accepted) { server = std::move(*accepted); }); });
    EXPECT_TRUE(world.run_until([&] { return server != nullptr; }));
    world.run([&] {
        client.reset();
        server.reset();
        listener.reset();
    });
}

// Writes pieces for as long as they are taken.
struct Spout {
    explicit Spout(Socket& to) : socket(to) { next(); }
    void next() {
        socket.write(piece, [this](const Result<>& written) {
            if (!written.ok()) return;
            bytes += piece.size();
            next();
        });
    }
    Socket& socket;
    const std::vector<std::byte> piece = std::vector<std::byte>(4096);
    std::size_t bytes = 0;
};

TEST(SystemNetwork, keeps_little_for_a_client_that_does_not_read) {
    SystemWorld world("127.0.0.1");
    std::unique_ptr<Listener> listener;
    std::unique_ptr<Socket> server;
    std::optional<Spout> spout;
    world.run([&] { listener = *world.server().listen({"127.0.0.1", 0}); });
    const int client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    world.run([&] {
        address.sin_port = htons(listener->local().port);
        listener->accept([&](auto accepted) { server = std::move(*accepted); });
    });
    ASSERT_EQ(::connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    ASSERT_TRUE(world.run_until([&] { return server != nullptr; }));

    // Until nothing has moved for a thousand turns of the loop.
    world.run([&] { spout.emplace(*server); });
    std::size_t written = 0;
    int received = 0;
    for (int quiet = 0; quiet < 1000; ++quiet) {
        int now = 0;
        ASSERT_EQ(::ioctl(client, FIONREAD, &now), 0);
        world.run([&] {
            if (spout->bytes != written || now != received) quiet = 0;
            written = spout->bytes;
        });
        received = now;
    }

    ASSERT_GT(received, 0);
    EXPECT_LE(written - static_cast<std::size_t>(received), std::size_t{80} << 10);
    ::close(client);
    world.run([&] {
        server.reset();
        listener.reset();
    });
}

}  // namespace
}  // namespace evenkeel::io
