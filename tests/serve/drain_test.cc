// SIGTERM under load: nothing acknowledged is lost, and the end comes in time.
#include <atomic>
#include <chrono>
#include <set>
#include <thread>

#include "serve/serve_process.h"
#include <evenkeel/consumer.h>
#include <evenkeel/producer.h>

namespace evenkeel::serve {
namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

std::set<std::string> all_events(ServeProcess& server) {
    std::set<std::string> bodies;
    auto client = Client::open(server.connection()).value();
    for (std::uint32_t partition = 0; partition < 2; ++partition) {
        const auto info = client->properties(partition);
        if (!info.ok() || info->is_empty) continue;
        auto reader = open_reader(*client, "$Default", partition, Position::earliest()).value();
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

TEST(ServeDrain, loses_no_acknowledged_event_under_load_and_ends_in_five_seconds) {
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
    EXPECT_LE(took, 5s);
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

TEST(ServeDrain, tells_clients_why_cuts_those_that_do_not_answer_and_ends_in_five_seconds) {
    ServeProcess server;
    // One says nothing; one opens a connection, and then nothing; one is in the middle of HTTP.
    const int silent = connect_to(server.amqp_port);
    const int opened = connect_to(server.amqp_port);
    const std::string hello("AMQP\0\1\0\0", 8);
    const std::string open("\0\0\0\x12\2\0\0\0\0\x53\x10\xc0\5\1\xa1\2me", 18);
    ASSERT_EQ(::send(opened, (hello + open).data(), 26, 0), 26);
    char answer[8];
    ASSERT_EQ(::recv(opened, answer, sizeof answer, MSG_WAITALL), 8);
    EXPECT_EQ(std::string(answer, 8), hello);
    const int half = connect_to(server.http_port);
    ASSERT_EQ(::send(half, "GET /he", 7, 0), 7);

    const auto asked = SteadyClock::now();
    const Ended ended = server.stop();

    EXPECT_LE(SteadyClock::now() - asked, 5s);
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

}  // namespace
}  // namespace evenkeel::serve
