// The store on a Redis that goes away, falls silent, forgets scripts, loses answers and refuses.
#include "checkpoint/redis_store.h"

#include <chrono>

#include <signal.h>

#include "checkpoint/blocking_client_fixture.h"
#include "checkpoint/open.h"
#include "checkpoint/redis_fixture.h"
#include "support/faulty_proxy.h"

namespace evenkeel::checkpoint {
namespace {

using namespace std::chrono_literals;

const GroupName group{"localhost", "homes", "g"};

struct RedisOutage : WithRedis {
    void SetUp() override {
        WithRedis::SetUp();
        if (!IsSkipped()) proxy = std::make_unique<test::FaultyProxy>(server->port());
    }
    std::unique_ptr<BlockingClient> client(Duration wait_max) {
        const std::string url = "redis://127.0.0.1:" + std::to_string(proxy->port());
        return std::make_unique<BlockingClient>([&](io::Loop& loop) {
            auto store = RedisStore::open(url, group, loop, {.wait_max = wait_max});
            EXPECT_TRUE(store) << to_string(store.error());
            return std::unique_ptr<Store>(std::move(*store));
        });
    }
    static Checkpoint at(std::int64_t sequence) {
        return {.partition = {0}, .sequence = {sequence}, .epoch = {1}};
    }

    const SystemClock clock{};
    std::unique_ptr<test::FaultyProxy> proxy;
};

TEST_F(RedisOutage, comes_back_by_itself_and_nothing_answered_is_lost) {
    const auto store = client(60s);
    ASSERT_TRUE(store->write(at(1)));

    proxy->cut();
    while (!store->write(at(2)).ok()) {  // one that was under way may be unknown
    }
    server->kill();
    ASSERT_TRUE(server->start_again());
    while (!store->write(at(3)).ok()) {
    }

    EXPECT_EQ(store->checkpoints()->at(0).sequence, SequenceNumber{3});
}

TEST_F(RedisOutage, a_crash_of_the_server_loses_nothing_that_was_answered) {
    const auto store = client(60s);
    std::int64_t answered = 0;
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 50; ++i) {
            const std::int64_t next = answered + 1;
            if (store->write(at(next)).ok()) answered = next;
        }
        server->kill();
        ASSERT_TRUE(server->start_again());
        auto listed = store->checkpoints();
        while (!listed.ok()) listed = store->checkpoints();
        ASSERT_EQ(listed->size(), 1u);
        EXPECT_GE(listed->at(0).sequence.value, answered);
    }
    EXPECT_GE(answered, 100);
}

TEST_F(RedisOutage, answers_unavailable_in_time_while_it_lasts_and_works_after) {
    const auto store = client(300ms);
    while (!store->write(at(1)).ok()) {  // on a busy machine even 300 ms may pass
    }
    proxy->refuse(true);
    Promise<bool> finished;
    std::atomic<int> left = 20, retriable = 0;
    const Instant asked = clock.now();

    store->loop().post([&] {
        for (int i = 0; i < 20; ++i) {
            store->store().write_checkpoint(at(2 + i), [&](Result<> result) {
                retriable += !result.ok() && is_retriable(result.error());
                if (--left == 0) finished.set(true);
            });
        }
    });
    finished.wait();

    EXPECT_EQ(retriable, 20);
    EXPECT_LT(clock.now() - asked, Duration(10s)) << "not one bound after another";
    proxy->refuse(false);
    while (!store->write(at(50)).ok()) {
    }
    EXPECT_EQ(store->checkpoints()->at(0).sequence, SequenceNumber{50});
}

TEST_F(RedisOutage, a_server_that_falls_silent_is_left_in_time) {
    const auto store = client(300ms);
    while (!store->write(at(1)).ok()) {
    }
    server->signal(SIGSTOP);
    const Instant asked = clock.now();

    const auto written = store->write(at(2));

    server->signal(SIGCONT);
    ASSERT_FALSE(written);
    EXPECT_TRUE(is_retriable(written.error())) << to_string(written.error());
    EXPECT_LT(clock.now() - asked, Duration(10s));
    while (!store->write(at(3)).ok()) {
    }
}

TEST_F(RedisOutage, a_lost_answer_is_unknown_and_the_write_may_be_there) {
    const auto store = client(500ms);
    std::string version;
    while (version.empty()) {
        const auto written = store->write(Ownership{.partition = {7}, .owner = "me"});
        if (written.ok()) version = *written;
    }
    proxy->lose_answers(true);

    const auto unknown =
        store->write(Ownership{.partition = {7}, .owner = "me", .version = version});

    ASSERT_FALSE(unknown);
    EXPECT_TRUE(is_retriable(unknown.error())) << to_string(unknown.error());
    proxy->lose_answers(false);
    proxy->cut();
    auto listed = store->ownerships();
    while (!listed.ok()) listed = store->ownerships();
    EXPECT_NE(listed->at(0).version, version) << "it was applied";
}

TEST_F(RedisOutage, a_server_that_forgot_the_scripts_gets_them_again) {
    const auto store = client(60s);
    ASSERT_TRUE(store->write(at(1)));
    ASSERT_TRUE(server->run({"SCRIPT", "FLUSH"}));

    const auto results = store->write(
        {Ownership{.partition = {0}, .owner = "me"}, Ownership{.partition = {1}, .owner = "me"}});

    ASSERT_TRUE(results) << to_string(results.error());
    EXPECT_TRUE(results->at(0).ok());
    EXPECT_TRUE(results->at(1).ok());
    EXPECT_TRUE(store->write(at(2)));
}

TEST_F(RedisOutage, is_closed_at_once_while_it_lasts) {
    const auto store = client(1h);
    proxy->hold(true);
    io::system::run_and_wait(store->loop(),
                             [&] { store->store().write_checkpoint(at(1), [](auto) {}); });
    const Instant asked = clock.now();

    store->close();

    EXPECT_LT(clock.now() - asked, Duration(30s));
}

TEST_F(RedisOutage, a_watch_survives_it_and_tells_afterwards) {
    const auto a = client(60s), b = client(60s);
    std::atomic<int> told = 0;
    io::system::run_and_wait(b->loop(), [&] { b->store().watch([&] { ++told; }); });
    proxy->cut();
    auto version = a->write(Member{.id = "a", .incarnation = "1"});
    while (!version.ok()) version = a->write(Member{.id = "a", .incarnation = "1"});
    const auto until_told = [&](int before) {
        const Instant deadline = clock.now() + 60s;
        while (told == before && clock.now() < deadline) io::system::run_and_wait(b->loop(), [] {});
        return told > before;
    };
    EXPECT_TRUE(until_told(0)) << "it may have missed something";
    const int before = told;

    ASSERT_TRUE(a->write(Member{.id = "b", .incarnation = "1"}));

    EXPECT_TRUE(until_told(before));
    b->close();
}

TEST_F(RedisOutage, heartbeats_and_our_own_changes_are_no_news) {
    const auto a = client(60s), b = client(60s);
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

TEST_F(RedisRefusal, a_user_with_the_documented_rights_is_enough) {
    ASSERT_TRUE(
        server->run({"ACL",         "SETUSER",  "app",     "on",           ">pw",   "~evenkeel:*",
                     "&evenkeel:*", "+hello",   "+select", "+script|load", "+eval", "+evalsha",
                     "+subscribe",  "+publish", "+time",   "+get",         "+set",  "+hget",
                     "+hset",       "+hdel",    "+hsetnx", "+hgetall"}));
    BlockingClient store([&](io::Loop& loop) {
        auto opened = RedisStore::open("redis://app:pw@127.0.0.1:" + std::to_string(server->port()),
                                       group, loop, {.wait_max = 60s});
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

}  // namespace
}  // namespace evenkeel::checkpoint
