#include "checkpoint/sqlite/transaction.h"

#include <chrono>

#include <sqlite3.h>

#include "checkpoint/contract/transaction_contract.h"
#include "checkpoint/sqlite/sqlite_fixture.h"

namespace evenkeel::checkpoint {
namespace {

using namespace std::chrono_literals;

struct SqliteSink : WithSqliteFile {
    SqliteSink() {
        EXPECT_TRUE(database->execute("CREATE TABLE totals (house TEXT PRIMARY KEY, events INT)"));
    }
    std::unique_ptr<Transaction> begin(std::uint32_t partition = 0) {
        auto transaction = transactions.begin(PartitionId{partition});
        EXPECT_TRUE(transaction) << to_string(transaction.error());
        return std::move(*transaction);
    }
    static int run(Transaction& transaction, const char* sql) {
        return sqlite3_exec(transaction.native().sqlite, sql, nullptr, nullptr, nullptr);
    }
    static bool add(Transaction& transaction, const std::string& house) {
        const std::string sql = "INSERT INTO totals (house) VALUES ('" + house + "')";
        return run(transaction, sql.c_str()) == SQLITE_OK;
    }
    std::int64_t rows() {
        Query query = database->query("SELECT count(*) FROM totals");
        EXPECT_TRUE(*query.next());
        return query.integer(0);
    }
    std::int64_t sequence() {
        const auto stored = table.checkpoints();
        return stored->empty() ? -1 : stored->at(0).sequence.value;
    }
    static Checkpoint at(std::int64_t number, std::int64_t epoch) {
        return {.partition = {0}, .sequence = {number}, .epoch = {epoch}};
    }

    std::unique_ptr<Database> database = open();
    SqliteTable table = *SqliteTable::open(*database, group);
    SqliteTransactions transactions{file, group, clock, 60s};
};

INSTANTIATE_TYPED_TEST_SUITE_P(Sqlite, TransactionContract, SqliteSink);

TEST_F(SqliteSink, a_sealed_checkpoint_fences_older_owners) {
    ASSERT_TRUE(table.seal(PartitionId{0}, Epoch{2}, {}));
    auto transaction = begin();
    ASSERT_TRUE(add(*transaction, "a"));

    const auto committed = transaction->commit(at(7, 1));
    transaction.reset();

    ASSERT_FALSE(committed);
    EXPECT_EQ(committed.error().code, ErrorCode::fenced);
    EXPECT_EQ(rows(), 0);
}

TEST_F(SqliteSink, a_handler_cannot_end_the_transaction_itself) {
    const auto transaction = begin();
    ASSERT_EQ(run(*transaction, "INSERT INTO totals VALUES ('a', 1)"), SQLITE_OK);

    EXPECT_EQ(run(*transaction, "COMMIT"), SQLITE_AUTH);
    EXPECT_EQ(rows(), 0);
    EXPECT_TRUE(transaction->commit(at(1, 1)));
    EXPECT_EQ(rows(), 1);
}

TEST_F(SqliteSink, a_transaction_that_a_failed_write_ended_commits_nothing) {
    ASSERT_TRUE(database->execute("INSERT INTO totals VALUES ('a', 1)"));
    auto transaction = begin();
    ASSERT_EQ(run(*transaction, "INSERT INTO totals VALUES ('b', 1)"), SQLITE_OK);
    ASSERT_NE(run(*transaction, "INSERT OR ROLLBACK INTO totals VALUES ('a', 2)"), SQLITE_OK);

    const auto committed = transaction->commit(at(1, 1));
    transaction.reset();

    ASSERT_FALSE(committed);
    EXPECT_EQ(committed.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(rows(), 1);
    EXPECT_EQ(sequence(), -1);
}

TEST_F(SqliteSink, a_commit_with_open_statements_tells_the_truth) {
    auto transaction = begin();
    auto* native = transaction->native().sqlite;
    sqlite3_stmt* left = nullptr;
    ASSERT_EQ(sqlite3_prepare_v2(native, "INSERT INTO totals VALUES ('a', 1) RETURNING house", -1,
                                 &left, nullptr),
              SQLITE_OK);
    ASSERT_EQ(sqlite3_step(left), SQLITE_ROW);

    const auto committed = transaction->commit(at(1, 1));
    transaction.reset();
    sqlite3_finalize(left);

    EXPECT_EQ(committed.ok(), rows() == 1) << "the answer is the truth";
    EXPECT_EQ(committed.ok(), sequence() == 1);
    EXPECT_TRUE(begin()->commit(at(2, 1))) << "the next one works";
}

TEST_F(SqliteSink, waiting_for_another_writer_is_bounded) {
    SqliteTransactions impatient(file, group, clock, 50ms);
    const auto holder = begin();

    const auto refused = impatient.begin(PartitionId{1});

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
}

}  // namespace
}  // namespace evenkeel::checkpoint
