#include "checkpoint/postgres/transaction.h"

#include <atomic>
#include <chrono>

#include "checkpoint/contract/transaction_contract.h"
#include "checkpoint/postgres/postgres_fixture.h"
#include "checkpoint/postgres/schema.h"
#include "support/faulty_proxy.h"

namespace evenkeel::checkpoint {
namespace {

using namespace std::chrono_literals;

struct PostgresSink : WithPostgres {
    void SetUp() override {
        WithPostgres::SetUp();
        if (IsSkipped()) return;
        proxy = std::make_unique<test::FaultyProxy>(server->port());
        address = std::make_unique<PostgresAddress>(*PostgresAddress::parse(server->url()));
        auto connected =
            PostgresConnection::connect(*address, {clock, never, 60s}, clock.now() + 60s);
        ASSERT_TRUE(connected) << to_string(connected.error());
        connection = std::move(*connected);
        ASSERT_TRUE(prepare_postgres_schema(*connection, *address, clock.now() + 60s));
        execute("DROP TABLE IF EXISTS totals; CREATE TABLE totals (house TEXT PRIMARY KEY)");
        transactions = a_sink(60s);
    }
    std::unique_ptr<PostgresTransactions> a_sink(Duration wait_max) {
        const std::string url =
            "postgresql://evenkeel@127.0.0.1:" + std::to_string(proxy->port()) + "/test";
        return std::make_unique<PostgresTransactions>(
            *PostgresAddress::parse(url), GroupName{"localhost", "homes", "g"}, clock, wait_max);
    }
    PostgresRows execute(const std::string& sql) {
        auto done = connection->execute(sql, clock.now() + 60s);
        EXPECT_TRUE(done) << to_string(done.error());
        return done.ok() ? std::move(*done) : PostgresRows();
    }
    std::unique_ptr<Transaction> begin(std::uint32_t partition = 0) {
        auto transaction = transactions->begin(PartitionId{partition});
        EXPECT_TRUE(transaction) << to_string(transaction.error());
        return std::move(*transaction);
    }
    // As a handler does, with libpq's own calls.
    static bool run(Transaction& transaction, const std::string& sql) {
        const PostgresLibrary& library = **PostgresLibrary::load();
        auto* const native = transaction.native().postgres;
        if (library.sendQuery(native, sql.c_str()) != 1) return false;
        bool ok = true;
        while (PGresult* const result = library.getResult(native)) {
            ok = ok && library.resultStatus(result) != PGRES_FATAL_ERROR;
            library.clear(result);
        }
        return ok;
    }
    static bool add(Transaction& transaction, const std::string& house) {
        return run(transaction, "INSERT INTO totals (house) VALUES ('" + house + "')");
    }
    std::int64_t rows() { return execute("SELECT count(*) FROM totals").integer(0, 0); }
    std::int64_t sequence() {
        const auto found = execute("SELECT coalesce(max(sequence), -1) FROM evenkeel.checkpoint");
        return found.integer(0, 0);
    }
    static Checkpoint at(std::int64_t number, std::int64_t epoch) {
        return {.partition = {0}, .sequence = {number}, .epoch = {epoch}};
    }

    const SystemClock clock{};
    const std::atomic<bool> never = false;
    std::unique_ptr<test::FaultyProxy> proxy;
    std::unique_ptr<PostgresAddress> address;
    std::unique_ptr<PostgresConnection> connection;
    std::unique_ptr<PostgresTransactions> transactions;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Postgres, TransactionContract, PostgresSink);

TEST_F(PostgresSink, of_two_at_once_on_one_partition_one_commits) {
    const auto first = begin(), second = begin();
    ASSERT_TRUE(run(*first, "INSERT INTO totals VALUES ('a')"));
    ASSERT_TRUE(run(*second, "INSERT INTO totals VALUES ('b')"));

    EXPECT_TRUE(first->commit(at(7, 1)));
    const auto committed = second->commit(at(8, 1));

    ASSERT_FALSE(committed);
    EXPECT_EQ(committed.error().code, ErrorCode::conflict);
}

TEST_F(PostgresSink, a_transaction_that_the_handler_ended_is_told) {
    {
        const auto transaction = begin();
        ASSERT_TRUE(run(*transaction, "INSERT INTO totals VALUES ('a')"));
        ASSERT_TRUE(run(*transaction, "COMMIT"));
        const auto committed = transaction->commit(at(1, 1));
        ASSERT_FALSE(committed);
        EXPECT_EQ(committed.error().code, ErrorCode::invalid_argument);
    }
    const auto transaction = begin();
    ASSERT_TRUE(run(*transaction, "COMMIT; BEGIN; INSERT INTO totals VALUES ('b')"));

    const auto committed = transaction->commit(at(1, 1));

    ASSERT_FALSE(committed);
    EXPECT_EQ(committed.error().code, ErrorCode::invalid_argument) << to_string(committed.error());
    EXPECT_EQ(sequence(), -1);
}

TEST_F(PostgresSink, a_failed_statement_commits_nothing) {
    auto transaction = begin();
    ASSERT_TRUE(run(*transaction, "INSERT INTO totals VALUES ('a')"));
    ASSERT_FALSE(run(*transaction, "INSERT INTO totals VALUES ('a')"));

    const auto committed = transaction->commit(at(1, 1));
    transaction.reset();

    ASSERT_FALSE(committed);
    EXPECT_EQ(committed.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(rows(), 0);
    EXPECT_TRUE(begin()->commit(at(2, 1))) << "the next one works";
}

TEST_F(PostgresSink, a_connection_that_is_lost_before_the_commit_leaves_nothing) {
    auto transaction = begin();
    ASSERT_TRUE(run(*transaction, "INSERT INTO totals VALUES ('a')"));
    proxy->cut();

    const auto committed = transaction->commit(at(1, 1));
    transaction.reset();

    ASSERT_FALSE(committed);
    EXPECT_TRUE(is_retriable(committed.error())) << to_string(committed.error());
    EXPECT_EQ(sequence(), -1);
    EXPECT_EQ(rows(), 0);
    EXPECT_TRUE(begin()->commit(at(2, 1)));
}

TEST_F(PostgresSink, a_commit_whose_answer_is_lost_tells_the_truth) {
    transactions = a_sink(5s);
    io::system::WorkerThread saboteur("cuts");
    int committed = 0;
    for (int i = 0; i < 30; ++i) {
        auto transaction = transactions->begin(PartitionId{0});
        if (!transaction.ok()) {
            transaction = transactions->begin(PartitionId{0});
            ASSERT_TRUE(transaction) << to_string(transaction.error());
        }
        // If this fails, so does the commit.
        run(**transaction, "INSERT INTO totals VALUES ('" + std::to_string(i) + "')");
        saboteur.post([&, i] {
            std::atomic<int> turns = 0;
            while (turns.fetch_add(1) < i * 20'000) {
            }
            proxy->cut();
        });
        const auto result = (*transaction)->commit(at(i, 1));
        transaction->reset();
        io::system::run_and_wait(saboteur, [] {});
        const bool is_there =
            execute("SELECT 1 FROM totals WHERE house = '" + std::to_string(i) + "'").size() == 1;

        EXPECT_EQ(result.ok(), is_there) << i;
        EXPECT_EQ(result.ok(), sequence() == i) << i;
        committed += result.ok();
    }
    std::printf("%d of 30 were committed\n", committed);
}

TEST_F(PostgresSink, what_was_settled_as_not_committed_cannot_commit_later) {
    const auto late = begin();
    ASSERT_TRUE(run(*late, "INSERT INTO totals VALUES ('a')"));
    const auto settled =
        execute("SELECT evenkeel.settle((SELECT id FROM evenkeel.consumer_group), 0, 'stamp')");
    ASSERT_FALSE(settled.boolean(0, 0));

    const auto committed = late->commit(at(1, 1));

    ASSERT_FALSE(committed);
    EXPECT_EQ(committed.error().code, ErrorCode::conflict);
}

}  // namespace
}  // namespace evenkeel::checkpoint
