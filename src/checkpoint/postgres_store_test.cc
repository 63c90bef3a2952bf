// The store on a server that goes away, falls silent, loses answers and refuses.
#include "checkpoint/postgres_store.h"

#include <chrono>

#include "checkpoint/blocking_client_fixture.h"
#include "checkpoint/open.h"
#include "checkpoint/postgres_connection.h"
#include "checkpoint/postgres_fixture.h"
#include "support/faulty_proxy.h"

namespace evenkeel::checkpoint {
namespace {

using namespace std::chrono_literals;

const GroupName group{"localhost", "homes", "g"};

struct PostgresOutage : WithPostgres {
    void SetUp() override {
        WithPostgres::SetUp();
        if (!IsSkipped()) proxy = std::make_unique<test::FaultyProxy>(server->port());
    }
    std::string url() const {
        return "postgresql://evenkeel@127.0.0.1:" + std::to_string(proxy->port()) + "/test";
    }
    std::unique_ptr<BlockingClient> client(Duration wait_max) {
        return std::make_unique<BlockingClient>([&](io::Loop& loop) {
            auto store = PostgresStore::open(url(), group, loop, {.wait_max = wait_max});
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

TEST_F(PostgresOutage, comes_back_by_itself_and_nothing_answered_is_lost) {
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

TEST_F(PostgresOutage, answers_unavailable_in_time_while_it_lasts_and_works_after) {
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
    io::system::run_and_wait(store->loop(), [] {});  // the loop itself is not kept waiting
    finished.wait();

    EXPECT_EQ(retriable, 20);
    EXPECT_LT(clock.now() - asked, Duration(10s)) << "not one bound after another";
    proxy->refuse(false);
    while (!store->write(at(50)).ok()) {
    }
    EXPECT_EQ(store->checkpoints()->at(0).sequence, SequenceNumber{50});
}

TEST_F(PostgresOutage, a_server_that_falls_silent_is_left_in_time) {
    const auto store = client(300ms);
    while (!store->write(at(1)).ok()) {
    }
    proxy->hold(true);
    const Instant asked = clock.now();

    const auto written = store->write(at(2));

    ASSERT_FALSE(written);
    EXPECT_TRUE(is_retriable(written.error())) << to_string(written.error());
    EXPECT_LT(clock.now() - asked, Duration(10s));
    proxy->hold(false);
    proxy->cut();
    while (!store->write(at(3)).ok()) {
    }
}

TEST_F(PostgresOutage, a_lost_answer_is_unknown_and_the_write_may_be_there) {
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
    EXPECT_GT(proxy->lost_bytes(), 0u);
}

TEST_F(PostgresOutage, is_closed_at_once_while_it_lasts) {
    const auto store = client(1h);
    proxy->hold(true);
    io::system::run_and_wait(store->loop(),
                             [&] { store->store().write_checkpoint(at(1), [](auto) {}); });
    const Instant asked = clock.now();

    store->close();

    EXPECT_LT(clock.now() - asked, Duration(30s));
}

TEST_F(PostgresOutage, a_watch_survives_it_and_tells_afterwards) {
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

TEST_F(PostgresOutage, a_row_that_another_session_locks_holds_up_only_its_own_partition) {
    const auto store = client(2s);
    ASSERT_TRUE(store->seal(0, 1));
    ASSERT_TRUE(store->seal(1, 1));
    const PostgresAddress address = *PostgresAddress::parse(server->url());
    const std::atomic<bool> never = false;
    auto holder = PostgresConnection::connect(address, {clock, never, 60s}, clock.now() + 60s);
    ASSERT_TRUE(holder);
    ASSERT_TRUE((*holder)->execute(
        "BEGIN; SELECT 1 FROM evenkeel.checkpoint WHERE partition = 0 FOR UPDATE",
        clock.now() + 60s));
    Promise<bool> finished;
    std::atomic<int> left = 2;
    std::atomic<bool> is_locked_refused = false, is_other_written = false;

    store->loop().post([&] {
        for (std::uint32_t p = 0; p < 2; ++p) {
            store->store().write_checkpoint(
                {.partition = {p}, .sequence = {5}, .epoch = {1}}, [&, p](Result<> result) {
                    if (p == 0) is_locked_refused = !result.ok() && is_retriable(result.error());
                    if (p == 1) is_other_written = result.ok();
                    if (--left == 0) finished.set(true);
                });
        }
    });
    finished.wait();

    EXPECT_TRUE(is_locked_refused);
    EXPECT_TRUE(is_other_written);
}

struct PostgresRefusal : WithPostgres {
    Error error_of(const std::string& url) {
        io::system::LoopThread loop("client");
        auto store = open_store(url, group, loop);
        EXPECT_FALSE(store.ok()) << url;
        return store.ok() ? Error{ErrorCode::cancelled, ""} : store.error();
    }
    std::string at_port(const std::string& user, const std::string& database) const {
        return "postgresql://" + user + "@127.0.0.1:" + std::to_string(server->port()) + "/" +
               database;
    }
};

TEST_F(PostgresRefusal, says_what_is_wrong_and_never_the_password) {
    const Error no_database = error_of(at_port("evenkeel:hush", "nowhere"));
    EXPECT_EQ(no_database.code, ErrorCode::not_found);
    EXPECT_NE(no_database.detail.find("nowhere"), std::string::npos) << no_database.detail;
    const Error no_user = error_of(at_port("nobody_such:hush", "test"));
    EXPECT_EQ(no_user.code, ErrorCode::not_allowed) << no_user.detail;
    const Error no_server =
        error_of("postgresql://me:hush@127.0.0.1:" + std::to_string(test::free_port()) + "/test");
    EXPECT_EQ(no_server.code, ErrorCode::unavailable);
    EXPECT_NE(no_server.detail.find("right host and port"), std::string::npos) << no_server.detail;
    const Error no_host = error_of("postgresql://me:hush@no-such-host.invalid/test");
    EXPECT_EQ(no_host.code, ErrorCode::unavailable) << no_host.detail;
    const Error no_port = error_of("postgresql://me:hush/db@host/test");
    EXPECT_EQ(no_port.code, ErrorCode::invalid_argument);
    for (const Error& error : {no_database, no_user, no_server, no_host, no_port}) {
        EXPECT_EQ(error.detail.find("hush"), std::string::npos) << error.detail;
    }
}

TEST_F(PostgresRefusal, a_wrong_password_is_named) {
    ASSERT_TRUE(
        server->run("DROP ROLE IF EXISTS locked; "
                    "CREATE ROLE locked LOGIN PASSWORD 'right' CONNECTION LIMIT 0"));
    const Error none_left = error_of(at_port("locked:wrong", "test"));
    EXPECT_EQ(none_left.code, ErrorCode::overloaded) << none_left.detail;
    ASSERT_TRUE(server->run("DROP ROLE locked"));
}

TEST_F(PostgresRefusal, a_database_that_is_read_only_is_named) {
    const Error error =
        error_of(server->url() + "?options=-c%20default_transaction_read_only%3Don");
    EXPECT_EQ(error.code, ErrorCode::unavailable);
    EXPECT_NE(error.detail.find("read-only"), std::string::npos) << error.detail;
}

TEST_F(PostgresRefusal, a_damaged_schema_is_named_when_it_is_used) {
    io::system::LoopThread loop("client");
    auto opened = PostgresStore::open(server->url(), group, loop, {.wait_max = 60s});
    ASSERT_TRUE(opened);
    ASSERT_TRUE(server->run("DROP FUNCTION evenkeel.seal"));
    loop.start();
    Promise<ErrorCode> code;
    loop.post([&] {
        (*opened)->seal(PartitionId{0}, Epoch{1}, [&](const Result<Checkpoint>& sealed) {
            code.set(sealed.ok() ? ErrorCode::cancelled : sealed.error().code);
        });
    });
    EXPECT_EQ(code.wait(), ErrorCode::unsupported);
    io::system::run_and_wait(loop, [&] { opened->reset(); });
}

}  // namespace
}  // namespace evenkeel::checkpoint
