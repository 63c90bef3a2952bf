// The store on a server that goes away, falls silent, loses answers and refuses.
#include "checkpoint/postgres/store.h"

#include <chrono>

#include "checkpoint/contract/blocking_client_fixture.h"
#include "checkpoint/contract/outage_contract.h"
#include "checkpoint/open.h"
#include "checkpoint/postgres/connection.h"
#include "checkpoint/postgres/postgres_fixture.h"

namespace evenkeel::checkpoint {
namespace {

using namespace std::chrono_literals;

const GroupName group{"localhost", "homes", "g"};

class PostgresOutage final : public ServerOutage<test::PostgresServer> {
public:
    PostgresOutage() : ServerOutage(&shared_postgres) {
        if (server_ != nullptr) {
            EXPECT_TRUE(server_->run("DROP SCHEMA IF EXISTS evenkeel CASCADE"));
        }
    }
    Result<std::unique_ptr<Store>> open(std::uint16_t port, Duration wait_max,
                                        io::Loop& loop) override {
        auto store =
            PostgresStore::open("postgresql://evenkeel@127.0.0.1:" + std::to_string(port) + "/test",
                                group, loop, {.wait_max = wait_max});
        if (!store.ok()) return store.error();
        return std::unique_ptr<Store>(std::move(*store));
    }
};

std::unique_ptr<OutageBackend> a_postgres_outage() {
    return std::make_unique<PostgresOutage>();
}

INSTANTIATE_TEST_SUITE_P(Postgres, StoreOutage, testing::Values(&a_postgres_outage));

struct PostgresLocks : WithPostgres {
    const SystemClock clock{};
};

TEST_F(PostgresLocks, on_a_row_hold_up_only_its_own_partition) {
    const auto store = std::make_unique<BlockingClient>([&](io::Loop& loop) {
        auto opened = PostgresStore::open(server->url(), group, loop, {.wait_max = 2s});
        EXPECT_TRUE(opened) << to_string(opened.error());
        return std::unique_ptr<Store>(std::move(*opened));
    });
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
    ASSERT_TRUE(server->run(
        "DROP ROLE IF EXISTS guarded; CREATE ROLE guarded LOGIN SUPERUSER PASSWORD 'right'"));

    const Error wrong = error_of(at_port("guarded:hush", "test"));
    const Error none = error_of(at_port("guarded", "test"));

    EXPECT_EQ(wrong.code, ErrorCode::not_allowed) << wrong.detail;
    EXPECT_NE(wrong.detail.find("password authentication failed"), std::string::npos)
        << wrong.detail;
    EXPECT_EQ(wrong.detail.find("hush"), std::string::npos) << wrong.detail;
    EXPECT_EQ(none.code, ErrorCode::not_allowed) << none.detail;
    EXPECT_NE(none.detail.find("PGPASSWORD"), std::string::npos) << none.detail;
    io::system::LoopThread loop("client");
    EXPECT_TRUE(open_store(at_port("guarded:right", "test"), group, loop).ok());
    ASSERT_TRUE(server->run("DROP OWNED BY guarded CASCADE; DROP ROLE guarded"));
}

TEST_F(PostgresRefusal, a_role_without_connections_left_is_overloaded) {
    ASSERT_TRUE(
        server->run("DROP ROLE IF EXISTS crowded; CREATE ROLE crowded LOGIN CONNECTION LIMIT 0"));

    const Error none_left = error_of(at_port("crowded", "test"));

    EXPECT_EQ(none_left.code, ErrorCode::overloaded) << none_left.detail;
    ASSERT_TRUE(server->run("DROP ROLE crowded"));
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

struct PostgresLooking : WithPostgres {};

TEST_F(PostgresLooking, writes_nothing_and_finds_only_a_group_that_is_there) {
    io::system::LoopThread loop("client");
    const OpenOptions looking{.may_create = false};

    const auto before = open_store(server->url(), group, loop, looking);
    const bool is_empty = server->run("CREATE SCHEMA evenkeel; DROP SCHEMA evenkeel");
    ASSERT_TRUE(open_store(server->url(), group, loop));
    const auto after = open_store(server->url(), group, loop, looking);
    const GroupName missing{"localhost", "homes", "other"};
    const auto other = open_store(server->url(), missing, loop, looking);
    const auto still = open_store(server->url(), missing, loop, looking);

    ASSERT_TRUE(before) << to_string(before.error());
    EXPECT_EQ(*before, nullptr);
    EXPECT_TRUE(is_empty);
    ASSERT_TRUE(after) << to_string(after.error());
    EXPECT_NE(*after, nullptr);
    EXPECT_EQ(*other, nullptr);
    EXPECT_EQ(*still, nullptr) << "the first look made it";
}

}  // namespace
}  // namespace evenkeel::checkpoint
