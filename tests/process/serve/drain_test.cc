// SIGTERM under load: nothing acknowledged is lost, and the end comes in time.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <set>
#include <thread>

#include <sys/wait.h>

#include <poll.h>

#include "process/serve/serve_process.h"
#include <evenkeel/consumer.h>
#include <evenkeel/producer.h>

namespace evenkeel::serve {
namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

// What is promised; a sanitizer's build takes its time.
std::chrono::seconds drain_limit() {
    return std::getenv("EVENKEEL_SANITIZED") != nullptr ? 15s : 5s;
}

std::set<std::string> all_events(ServeProcess& server) {
    std::set<std::string> bodies;
    auto client = Client::open(server.connection()).value();
    for (std::uint32_t partition = 0; partition < 2; ++partition) {
        const auto info = client->properties(partition);
        if (!info.ok() || info->is_empty) continue;
        auto reader =
            RemoteReader::open(*client, "$Default", partition, Position::earliest()).value();
        std::int64_t last = -1;
        while (last < info->last_enqueued_sequence_number) {
            const auto batch = reader->read(1000, 20s);
            if (!batch.ok() || batch->empty()) {
                ADD_FAILURE() << "events are missing behind " << last;
                break;
            }
            for (const auto& event : *batch) bodies.emplace(event.text());
            last = batch->back().sequence_number;
        }
    }
    return bodies;
}

TEST(ServeDrain, under_load_loses_nothing_and_ends_in_five_seconds) {
    ServeProcess server;
    constexpr int senders = 3;
    std::vector<std::string> acknowledged[senders];
    std::atomic<std::uint64_t> count = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < senders; ++i) {
        threads.emplace_back([&, i, connection = server.connection()] {
            auto producer = Producer::open(ClientOptions{
                .connection = connection, .retry = {.retries_max = 0, .try_timeout = 5s}});
            if (!producer.ok()) return;
            for (int n = 0; n < 1'000'000; ++n) {
                const std::string body = std::to_string(i) + "-" + std::to_string(n);
                if (!(*producer)->send(body).ok()) return;
                acknowledged[i].push_back(body);
                ++count;
                count.notify_one();
            }
        });
    }
    for (auto seen = count.load(); seen < 500; seen = count.load()) count.wait(seen);

    const auto asked = SteadyClock::now();
    const Ended ended = server.stop();
    const auto took = SteadyClock::now() - asked;

    EXPECT_TRUE(ended.exited);
    EXPECT_EQ(ended.code, 0);
    EXPECT_LE(took, drain_limit());
    for (auto& thread : threads) thread.join();
    server.start();
    const auto stored = all_events(server);
    std::uint64_t missing = 0;
    for (const auto& bodies : acknowledged) {
        for (const auto& body : bodies) missing += stored.contains(body) ? 0 : 1;
    }
    EXPECT_EQ(missing, 0u) << "of " << count.load();
    RecordProperty("acknowledged", std::to_string(count.load()));
}

// A client that opens a connection and then answers nothing, so that a drain waits for it.
int open_and_fall_silent(int port) {
    const int opened = connect_to(port);
    const std::string hello("AMQP\0\1\0\0", 8);
    const std::string open("\0\0\0\x12\2\0\0\0\0\x53\x10\xc0\5\1\xa1\2me", 18);
    EXPECT_EQ(::send(opened, (hello + open).data(), 26, 0), 26);
    char answer[8];
    EXPECT_EQ(::recv(opened, answer, sizeof answer, MSG_WAITALL), 8);
    EXPECT_EQ(std::string(answer, 8), hello);
    return opened;
}

TEST(ServeDrain, sends_clients_the_reason_and_ends_in_five_seconds) {
    ServeProcess server;
    // One says nothing; one opens a connection, and then nothing; one is in the middle of HTTP.
    const int silent = connect_to(server.amqp_port);
    const int opened = open_and_fall_silent(server.amqp_port);
    const int half = connect_to(server.http_port);
    ASSERT_EQ(::send(half, "GET /he", 7, 0), 7);

    const auto asked = SteadyClock::now();
    const Ended ended = server.stop();

    EXPECT_LE(SteadyClock::now() - asked, drain_limit());
    EXPECT_EQ(ended.code, 0);
    std::string told;
    char buffer[512];
    ssize_t got = 0;
    while ((got = ::recv(opened, buffer, sizeof buffer, 0)) > 0) {
        told.append(buffer, static_cast<std::size_t>(got));
    }
    EXPECT_TRUE(has(told, "amqp:connection:forced")) << "so SDKs connect again";
    for (const int descriptor : {silent, opened, half}) ::close(descriptor);
}

// Whether it drains after many signals, one right behind the other.
bool ends_well_after_a_burst() {
    ServeProcess server;
    for (int i = 0; i < 200; ++i) server.process().signal(i % 2 == 0 ? SIGTERM : SIGINT);
    const Ended ended = server.stop();
    return ended.exited && ended.code == 0;
}

TEST(ServeDrain, takes_signals_that_come_together_for_one) {
    // A machine that is busy may stretch a burst, though not each time.
    bool ended_well = false;
    for (int attempt = 0; attempt < 5 && !ended_well; ++attempt) {
        ended_well = ends_well_after_a_burst();
    }

    EXPECT_TRUE(ended_well) << "as timeout(1) signals: its child, then the child's group";
}

TEST(ServeDrain, ends_at_once_when_it_is_asked_again_later) {
    ServeProcess server;
    const int silent = open_and_fall_silent(server.amqp_port);
    server.process().signal(SIGTERM);
    // In vain while they count as the same wish.
    const auto asked = SteadyClock::now();
    siginfo_t state{};
    while (state.si_pid == 0 && SteadyClock::now() - asked < 60s) {
        server.process().signal(SIGTERM);
        ::poll(nullptr, 0, 20);  // tidy: allow sleep: as an operator would, only faster
        waitid(P_PID, static_cast<id_t>(server.process().id()), &state,
               WEXITED | WNOHANG | WNOWAIT);
    }

    const Ended ended = server.process().wait();

    EXPECT_FALSE(ended.exited);
    EXPECT_EQ(ended.code, SIGTERM);
    ::close(silent);
}

}  // namespace
}  // namespace evenkeel::serve
