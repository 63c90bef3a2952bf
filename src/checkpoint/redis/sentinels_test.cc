#include "checkpoint/redis/sentinels.h"

#include <chrono>

#include <gtest/gtest.h>
#include <poll.h>

#include "checkpoint/contract/blocking_client_fixture.h"
#include "checkpoint/redis/store.h"
#include "io/file.h"
#include "io/system/files.h"
#include "support/redis_server.h"

namespace evenkeel::checkpoint {
namespace {

using namespace std::chrono_literals;
using Kind = RespValue::Kind;

RespValue text_value(std::string value) {
    return {.kind = Kind::text, .text = std::move(value)};
}

TEST(RedisSentinelReply, names_the_primary_or_says_what_is_wrong) {
    const auto good = primary_in(
        {.kind = Kind::list, .list = {text_value("10.0.0.7"), text_value("6379")}}, "main");
    ASSERT_TRUE(good.ok());
    EXPECT_EQ(*good, (io::Endpoint{"10.0.0.7", 6379}));
    EXPECT_EQ(primary_in({}, "main").error().code, ErrorCode::not_found);
    EXPECT_EQ(primary_in({.kind = Kind::error, .text = "ERR unknown command"}, "main").error().code,
              ErrorCode::unsupported);
    for (const char* refusal : {"NOAUTH Authentication required.", "NOPERM this user has no"}) {
        const RespValue reply{.kind = Kind::error, .text = refusal};
        EXPECT_TRUE(wants_login(reply));
        EXPECT_EQ(primary_in(reply, "main").error().code, ErrorCode::not_allowed);
    }
    EXPECT_FALSE(wants_login(text_value("NOAUTH")));
    EXPECT_EQ(primary_in({.kind = Kind::list, .list = {text_value("h"), text_value("x")}}, "main")
                  .error()
                  .code,
              ErrorCode::corrupt);
    EXPECT_EQ(primary_in({.kind = Kind::list}, "main").error().code, ErrorCode::corrupt);
}

// A Sentinel that looks after a primary on a port of this machine.
class SentinelProcess {
public:
    // `lines` are added to its file. Ready when its log says `sign`.
    SentinelProcess(std::uint16_t primary, const std::string& lines, const std::string& sign) {
        const std::string file = folder_.path() + "/sentinel.conf", log = file + ".log";
        const std::string main = "\nsentinel monitor main 127.0.0.1 " + std::to_string(primary);
        io::system::SystemFiles files;
        for (int attempt = 0; attempt < 3 && !is_ready; ++attempt) {  // the port may be taken
            port = test::free_port();
            const std::string text_value = "port " + std::to_string(port) +
                                           "\nbind 127.0.0.1\ndir " + folder_.path() + main +
                                           " 1\nsentinel down-after-milliseconds main 1000\n"
                                           "sentinel failover-timeout main 5000\n" +
                                           lines;
            EXPECT_TRUE(io::replace_file(files, file, as_bytes(text_value)));
            process_ = std::make_unique<test::ServerProcess>(
                std::vector<std::string>{"/usr/bin/redis-server", file, "--sentinel"}, log,
                std::nullopt, SIGKILL);
            is_ready = process_->wait_for_output(sign);
        }
        EXPECT_TRUE(is_ready) << test::read_whole_file(log);
    }

    std::uint16_t port = 0;
    bool is_ready = false;

private:
    const test::TemporaryDirectory folder_;
    std::unique_ptr<test::ServerProcess> process_;
};

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
        sentinel = std::make_unique<SentinelProcess>(primary->port(), "", "+slave");
        ASSERT_TRUE(sentinel->is_ready);
    }
    std::string url(const std::string& name) const {
        // The first one is not there.
        return "redis://127.0.0.1:" + std::to_string(test::free_port()) +
               ",127.0.0.1:" + std::to_string(sentinel->port) + "/0?sentinel=" + name;
    }
    template <typename Condition>
    bool wait_until(Condition condition) const {
        const Instant deadline = clock.now() + 60s;
        while (!condition()) {
            if (clock.now() > deadline) return false;
            ::poll(nullptr, 0, 20);  // tidy: allow sleep: between two looks
        }
        return true;
    }
    static bool has(const std::string& words, const char* word) {
        return words.find(word) != std::string::npos;
    }

    const SystemClock clock{};
    std::unique_ptr<test::RedisServer> primary, replica;
    std::unique_ptr<SentinelProcess> sentinel;
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

// A primary and a Sentinel, of which each may want to know who asks.
struct RedisSentinelLogin : testing::Test {
    // Skips the test if Redis is not installed.
    void start(const std::vector<std::string>& options, const std::string& lines) {
        std::string why;
        primary = test::RedisServer::start(why, options);
        if (!primary) GTEST_SKIP() << why;
        sentinel = std::make_unique<SentinelProcess>(primary->port(), lines, "+monitor");
        ASSERT_TRUE(sentinel->is_ready);
    }
    // "" if the store can be opened, and is written to.
    std::string failure(const std::string& who, const std::string& options) {
        io::system::LoopThread loop("client");
        const std::string url = "redis://" + who + "127.0.0.1:" + std::to_string(sentinel->port) +
                                "/0?sentinel=main" + options;
        const auto opened =
            RedisStore::open(url, {"localhost", "homes", "g"}, loop, {.wait_max = 10s});
        if (opened.ok()) return primary_has_keys() ? "" : "nothing was written";
        const std::string told = to_string(opened.error());
        EXPECT_EQ(told.find("hush"), std::string::npos) << told;
        EXPECT_EQ(opened.error().code, ErrorCode::not_allowed) << told;
        EXPECT_TRUE(has(told, "Sentinel 127.0.0.1:" + std::to_string(sentinel->port))) << told;
        return told;
    }
    bool primary_has_keys() const {
        return has(primary->answer({"--no-auth-warning", "-a", "hush-server", "KEYS", "*"}),
                   "evenkeel:");
    }
    static bool has(const std::string& words, const std::string& word) {
        return words.find(word) != std::string::npos;
    }

    std::unique_ptr<test::RedisServer> primary;
    std::unique_ptr<SentinelProcess> sentinel;
};

TEST_F(RedisSentinelLogin, is_by_the_password_of_the_servers_if_there_is_no_other) {
    start({"--requirepass", "hush-server"},
          "requirepass hush-server\nsentinel auth-pass main hush-server\n");
    if (IsSkipped() || HasFatalFailure()) return;

    EXPECT_EQ(failure(":hush-server@", ""), "");
    EXPECT_TRUE(has(failure("", ""), "sentinel_password=PASSWORD"));
    EXPECT_TRUE(has(failure(":hush-wrong@", ""), "refuses user and password"));
}

TEST_F(RedisSentinelLogin, is_by_a_password_of_their_own) {
    start({"--requirepass", "hush-server"},
          "requirepass hush&sentinel\nsentinel auth-pass main hush-server\n");
    if (IsSkipped() || HasFatalFailure()) return;

    EXPECT_EQ(failure(":hush-server@", "&sentinel_password=hush%26sentinel"), "");
    EXPECT_TRUE(has(failure(":hush-server@", ""), "refuses user and password"));
    EXPECT_TRUE(has(failure(":hush-server@", "&sentinel_password=hush-wrong"), "refuses user"));
}

TEST_F(RedisSentinelLogin, is_not_needed_where_they_want_none) {
    start({"--requirepass", "hush-server"}, "sentinel auth-pass main hush-server\n");
    if (IsSkipped() || HasFatalFailure()) return;

    EXPECT_EQ(failure(":hush-server@", ""), "");
    EXPECT_EQ(failure(":hush-server@", "&sentinel_user=asker&sentinel_password=hush-x"), "");
}

TEST_F(RedisSentinelLogin, is_by_a_user_who_has_the_right) {
    start({"--requirepass", "hush-server"},
          "sentinel auth-pass main hush-server\nuser default on nopass -@all +ping\n"
          "user asker on >hush-asker -@all +sentinel|get-master-addr-by-name\n"
          "user idle on >hush-idle -@all +ping\n");
    if (IsSkipped() || HasFatalFailure()) return;

    EXPECT_EQ(failure(":hush-server@", "&sentinel_user=asker&sentinel_password=hush-asker"), "");
    EXPECT_TRUE(has(failure(":hush-server@", "&sentinel_user=idle&sentinel_password=hush-idle"),
                    "+sentinel|get-master-addr-by-name"));
    EXPECT_TRUE(has(failure(":hush-server@", "&sentinel_user=asker&sentinel_password=hush-x"),
                    "refuses user and password"));
}

TEST_F(RedisSentinelLogin, refused_by_one_is_told_though_another_is_not_there) {
    start({"--requirepass", "hush-server"}, "requirepass hush-sentinel\n");
    if (IsSkipped() || HasFatalFailure()) return;
    io::system::LoopThread loop("client");

    const auto opened =
        RedisStore::open("redis://:hush-server@127.0.0.1:" + std::to_string(sentinel->port) +
                             ",127.0.0.1:" + std::to_string(test::free_port()) + "/0?sentinel=main",
                         {"localhost", "homes", "g"}, loop, {.wait_max = 10s});

    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, ErrorCode::not_allowed) << opened.error().detail;
    EXPECT_TRUE(has(opened.error().detail, "refuses user and password")) << opened.error().detail;
}

}  // namespace
}  // namespace evenkeel::checkpoint
