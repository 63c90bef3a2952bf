// The store on a Redis that goes away, falls silent, forgets scripts, loses answers and refuses.
#include "checkpoint/redis/store.h"

#include <chrono>
#include <fstream>
#include <sstream>

#include "checkpoint/contract/blocking_client_fixture.h"
#include "checkpoint/contract/outage_contract.h"
#include "checkpoint/open.h"
#include "checkpoint/redis/redis_fixture.h"
#include "support/paths.h"

namespace evenkeel::checkpoint {
namespace {

using namespace std::chrono_literals;

const GroupName group{"localhost", "homes", "g"};

class RedisOutage final : public ServerOutage<test::RedisServer> {
public:
    RedisOutage() : ServerOutage(&shared_redis) {
        if (server_ != nullptr) {
            EXPECT_TRUE(server_->run({"FLUSHALL"}));
        }
    }
    Result<std::unique_ptr<Store>> open(std::uint16_t port, Duration wait_max,
                                        io::Loop& loop) override {
        auto store = RedisStore::open("redis://127.0.0.1:" + std::to_string(port), group, loop,
                                      {.wait_max = wait_max});
        if (!store.ok()) return store.error();
        return std::unique_ptr<Store>(std::move(*store));
    }
};

std::unique_ptr<OutageBackend> a_redis_outage() {
    return std::make_unique<RedisOutage>();
}

INSTANTIATE_TEST_SUITE_P(Redis, StoreOutage, testing::Values(&a_redis_outage));

struct RedisScripts : WithRedis {
    std::unique_ptr<BlockingClient> client() {
        return std::make_unique<BlockingClient>([&](io::Loop& loop) {
            auto store = RedisStore::open(server->url(), group, loop, {.wait_max = 60s});
            EXPECT_TRUE(store) << to_string(store.error());
            return std::unique_ptr<Store>(std::move(*store));
        });
    }
};

TEST_F(RedisScripts, that_the_server_forgot_are_given_again) {
    const auto store = client();
    const Checkpoint first{.partition = {0}, .sequence = {1}, .epoch = {1}};
    ASSERT_TRUE(store->write(first));
    ASSERT_TRUE(server->run({"SCRIPT", "FLUSH"}));

    const auto results = store->write(
        {Ownership{.partition = {0}, .owner = "me"}, Ownership{.partition = {1}, .owner = "me"}});

    ASSERT_TRUE(results) << to_string(results.error());
    EXPECT_TRUE(results->at(0).ok());
    EXPECT_TRUE(results->at(1).ok());
    EXPECT_TRUE(store->write(first));
}

TEST_F(RedisScripts, tell_no_heartbeats_and_not_our_own_changes) {
    const auto a = client(), b = client();
    std::atomic<int> told = 0;
    io::system::run_and_wait(a->loop(), [&] { a->store().watch([&] { ++told; }); });

    std::string version = *a->write(Member{.id = "a", .incarnation = "1"});
    const std::string other = *b->write(Member{.id = "b", .incarnation = "1"});
    version = *a->write(Member{.id = "a", .incarnation = "1", .note = "x", .version = version});
    ASSERT_TRUE(b->write(Member{.id = "b", .incarnation = "1", .version = other}));
    ASSERT_TRUE(a->members());  // behind what was published before

    EXPECT_LE(told, 1) << "the other one's coming";
    a->close();
}

struct RedisRefusal : WithRedis {
    Error error_of(const std::string& url) {
        io::system::LoopThread loop("client");
        auto store = open_store(url, group, loop);
        EXPECT_FALSE(store.ok()) << url;
        return store.ok() ? Error{ErrorCode::cancelled, ""} : store.error();
    }
};

TEST_F(RedisRefusal, says_what_is_wrong_and_never_the_password) {
    std::string why;
    const auto locked = test::RedisServer::start(why, {"--requirepass", "right"});
    ASSERT_NE(locked, nullptr) << why;
    const std::string at_locked = "@127.0.0.1:" + std::to_string(locked->port());
    const Error none = error_of(locked->url());
    EXPECT_EQ(none.code, ErrorCode::not_allowed) << none.detail;
    const Error wrong = error_of("redis://:hush" + at_locked);
    EXPECT_EQ(wrong.code, ErrorCode::not_allowed) << wrong.detail;
    const Error nobody = error_of("redis://nobody:hush" + at_locked);
    EXPECT_EQ(nobody.code, ErrorCode::not_allowed) << nobody.detail;
    const Error no_database = error_of("redis://:right" + at_locked + "/99");
    EXPECT_EQ(no_database.code, ErrorCode::not_found) << no_database.detail;
    const Error no_server =
        error_of("redis://me:hush@127.0.0.1:" + std::to_string(test::free_port()));
    EXPECT_EQ(no_server.code, ErrorCode::unavailable) << no_server.detail;
    const Error no_host = error_of("redis://me:hush@no-such-host.invalid");
    EXPECT_EQ(no_host.code, ErrorCode::not_found) << no_host.detail;
    const Error no_tls = error_of("rediss://me:hush@127.0.0.1:" + std::to_string(server->port()));
    EXPECT_NE(no_tls.code, ErrorCode::cancelled) << no_tls.detail;
    for (const Error& error : {none, wrong, nobody, no_database, no_server, no_host, no_tls}) {
        EXPECT_EQ(error.detail.find("hush"), std::string::npos) << error.detail;
        EXPECT_EQ(error.detail.find("right@"), std::string::npos) << error.detail;
    }
    io::system::LoopThread loop("client");
    EXPECT_TRUE(open_store("redis://:right" + at_locked, group, loop));
    EXPECT_TRUE(open_store("redis://default:right" + at_locked + "/3", group, loop));
}

// The words of "ACL SETUSER app ..." in docs/stores.md, on as many lines as it takes.
std::vector<std::string> documented_rights() {
    std::ifstream file(test::source_path("docs/stores.md"));
    std::vector<std::string> words;
    for (std::string line; std::getline(file, line);) {
        if (words.empty() && !line.starts_with("ACL SETUSER app ")) continue;
        if (line.starts_with("```")) break;
        std::istringstream rest(line);
        for (std::string word; rest >> word;) words.push_back(word);
    }
    return words;
}

TEST_F(RedisRefusal, a_user_with_the_documented_rights_is_enough) {
    const auto words = documented_rights();
    ASSERT_GT(words.size(), 10u);
    ASSERT_TRUE(server->run(words));
    const std::string url = "redis://app:PASSWORD@127.0.0.1:" + std::to_string(server->port());
    {
        io::system::LoopThread loop("looks");
        const auto looked = open_store(url, group, loop, {.may_create = false});
        EXPECT_TRUE(looked) << to_string(looked.error());
    }
    BlockingClient store([&](io::Loop& loop) {
        auto opened = RedisStore::open(url, group, loop, {.wait_max = 60s});
        EXPECT_TRUE(opened) << to_string(opened.error());
        return std::unique_ptr<Store>(std::move(*opened));
    });

    const auto version = store.write(Member{.id = "a", .incarnation = "1"});

    ASSERT_TRUE(version) << to_string(version.error());
    EXPECT_TRUE(store.remove("a", *version));
    EXPECT_TRUE(store.seal(0, 1));
    EXPECT_TRUE(store.add({.partition = {0}, .sequence = {1}}));
    EXPECT_TRUE(store.checkpoints());
    store.close();
    ASSERT_TRUE(server->run({"ACL", "DELUSER", "app"}));
}

TEST_F(RedisRefusal, another_format_and_damaged_entries_are_named) {
    const std::string prefix = "evenkeel:{localhost/homes/g}:";
    ASSERT_TRUE(server->run({"SET", prefix + "format", "99"}));
    const Error newer = error_of(server->url());
    EXPECT_EQ(newer.code, ErrorCode::unsupported);
    EXPECT_NE(newer.detail.find("its format is '99'"), std::string::npos) << newer.detail;

    ASSERT_TRUE(server->run({"FLUSHALL"}));
    BlockingClient store([&](io::Loop& loop) {
        auto opened = RedisStore::open(server->url(), group, loop, {.wait_max = 60s});
        EXPECT_TRUE(opened) << to_string(opened.error());
        return std::unique_ptr<Store>(std::move(*opened));
    });
    ASSERT_TRUE(server->run({"HSET", prefix + "checkpoints", "3", "half"}));
    const auto listed = store.checkpoints();
    ASSERT_FALSE(listed) << "never taken for none";
    EXPECT_EQ(listed.error().code, ErrorCode::corrupt);
    EXPECT_NE(listed.error().detail.find("'3'"), std::string::npos) << listed.error().detail;
    const auto sealed = store.seal(3, 1);
    ASSERT_FALSE(sealed);
    EXPECT_EQ(sealed.error().code, ErrorCode::corrupt) << sealed.error().detail;
    ASSERT_TRUE(server->run({"DEL", prefix + "checkpoints"}));
    ASSERT_TRUE(server->run({"SET", prefix + "checkpoints", "x"}));
    const auto wrong = store.checkpoints();
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().code, ErrorCode::unsupported) << wrong.error().detail;
}

struct RedisLooking : WithRedis {};

TEST_F(RedisLooking, writes_nothing_and_finds_only_a_group_that_is_there) {
    io::system::LoopThread loop("client");
    const OpenOptions looking{.may_create = false};

    const auto before = open_store(server->url(), group, loop, looking);
    const std::string keys = server->answer({"DBSIZE"});
    ASSERT_TRUE(open_store(server->url(), group, loop));
    const auto after = open_store(server->url(), group, loop, looking);
    const auto other = open_store(server->url(), {"localhost", "homes", "other"}, loop, looking);

    ASSERT_TRUE(before) << to_string(before.error());
    EXPECT_EQ(*before, nullptr);
    EXPECT_EQ(keys, "0\n");
    ASSERT_TRUE(after) << to_string(after.error());
    EXPECT_NE(*after, nullptr);
    EXPECT_EQ(*other, nullptr);
}

}  // namespace
}  // namespace evenkeel::checkpoint
