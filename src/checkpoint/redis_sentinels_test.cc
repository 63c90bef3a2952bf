#include "checkpoint/redis_sentinels.h"

#include <chrono>

#include <gtest/gtest.h>
#include <poll.h>

#include "checkpoint/blocking_client_fixture.h"
#include "checkpoint/redis_store.h"
#include "io/file.h"
#include "io/system/files.h"
#include "support/redis_server.h"

namespace evenkeel::checkpoint {
namespace {

using namespace std::chrono_literals;
using Kind = RespValue::Kind;

RespValue text(std::string value) {
    return {.kind = Kind::text, .text = std::move(value)};
}

TEST(RedisSentinelReply, names_the_primary_or_says_what_is_wrong) {
    const auto good =
        primary_in({.kind = Kind::list, .list = {text("10.0.0.7"), text("6379")}}, "main");
    ASSERT_TRUE(good.ok());
    EXPECT_EQ(*good, (io::Endpoint{"10.0.0.7", 6379}));
    EXPECT_EQ(primary_in({}, "main").error().code, ErrorCode::not_found);
    EXPECT_EQ(primary_in({.kind = Kind::error, .text = "ERR unknown command"}, "main").error().code,
              ErrorCode::unsupported);
    EXPECT_EQ(primary_in({.kind = Kind::list, .list = {text("h"), text("x")}}, "main").error().code,
              ErrorCode::corrupt);
    EXPECT_EQ(primary_in({.kind = Kind::list}, "main").error().code, ErrorCode::corrupt);
}

// A primary, its replica, and a Sentinel that looks after them.
struct RedisSentinel : testing::Test {
    void SetUp() override {
        std::string why;
        primary = test::RedisServer::start(why, {"--repl-diskless-sync-delay", "0"});
        if (!primary) GTEST_SKIP() << why;
        replica = test::RedisServer::start(
            why, {"--replicaof", "127.0.0.1 " + std::to_string(primary->port())});
        ASSERT_TRUE(replica) << why;
        ASSERT_TRUE(wait_until([&] { return has(replica->answer({"ROLE"}), "connected"); }));
        port = test::free_port();
        const std::string file = folder.path() + "/sentinel.conf";
        io::system::SystemFiles files;
        ASSERT_TRUE(io::replace_file(
            files, file,
            as_bytes("port " + std::to_string(port) + "\nbind 127.0.0.1\ndir " + folder.path() +
                     "\nsentinel monitor main 127.0.0.1 " + std::to_string(primary->port()) +
                     " 1\nsentinel down-after-milliseconds main 1000\n"
                     "sentinel failover-timeout main 5000\n")));
        sentinel = std::make_unique<test::ServerProcess>(
            std::vector<std::string>{"/usr/bin/redis-server", file, "--sentinel"},
            folder.path() + "/sentinel.log", std::nullopt, SIGKILL);
        ASSERT_TRUE(sentinel->wait_for_output("+slave"))
            << test::read_whole_file(folder.path() + "/sentinel.log");
    }
    std::string url(const std::string& name) const {
        // The first one is not there.
        return "redis://127.0.0.1:" + std::to_string(test::free_port()) +
               ",127.0.0.1:" + std::to_string(port) + "/0?sentinel=" + name;
    }
    template <typename Condition>
    bool wait_until(Condition condition) const {
        const Instant deadline = clock.now() + 60s;
        while (!condition()) {
            if (clock.now() > deadline) return false;
            ::poll(nullptr, 0, 20);
        }
        return true;
    }
    static bool has(const std::string& words, const char* word) {
        return words.find(word) != std::string::npos;
    }

    const SystemClock clock{};
    const test::TemporaryDirectory folder;
    std::uint16_t port = 0;
    std::unique_ptr<test::RedisServer> primary, replica;
    std::unique_ptr<test::ServerProcess> sentinel;
};

TEST_F(RedisSentinel, leads_to_the_primary_and_after_a_fail_over_to_the_new_one) {
    BlockingClient store([&](io::Loop& loop) {
        auto opened =
            RedisStore::open(url("main"), {"localhost", "homes", "g"}, loop, {.wait_max = 10s});
        EXPECT_TRUE(opened) << to_string(opened.error());
        return std::unique_ptr<Store>(std::move(*opened));
    });
    const auto at = [](std::int64_t sequence) {
        return Checkpoint{.partition = {0}, .sequence = {sequence}, .epoch = {1}};
    };
    ASSERT_TRUE(store.write(at(1)));
    const std::uint16_t first = primary->port();
    ASSERT_TRUE(primary->run({"WAIT", "1", "30000"}));  // on a connection of its own: all of it

    primary->kill();
    ASSERT_TRUE(wait_until([&] { return store.write(at(2)).ok(); }));

    EXPECT_TRUE(has(replica->answer({"ROLE"}), "master"));
    EXPECT_NE(replica->port(), first);
    EXPECT_EQ(store.checkpoints()->at(0).sequence, SequenceNumber{2});
}

TEST_F(RedisSentinel, that_knows_no_such_primary_is_told) {
    io::system::LoopThread loop("client");

    const auto wrong_name =
        RedisStore::open(url("other"), {"localhost", "homes", "g"}, loop, {.wait_max = 10s});
    const auto no_sentinel =
        RedisStore::open("redis://127.0.0.1:" + std::to_string(primary->port()) + "?sentinel=main",
                         {"localhost", "homes", "g"}, loop, {.wait_max = 10s});

    ASSERT_FALSE(wrong_name);
    EXPECT_EQ(wrong_name.error().code, ErrorCode::not_found) << wrong_name.error().detail;
    EXPECT_NE(wrong_name.error().detail.find("'other'"), std::string::npos);
    ASSERT_FALSE(no_sentinel);
    EXPECT_EQ(no_sentinel.error().code, ErrorCode::unsupported) << no_sentinel.error().detail;
}

}  // namespace
}  // namespace evenkeel::checkpoint
