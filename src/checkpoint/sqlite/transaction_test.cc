#include "checkpoint/sqlite/transaction.h"

#include <chrono>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "support/temporary_directory.h"

namespace evenkeel::checkpoint {
namespace {

using namespace std::chrono_literals;

struct SqliteSink : testing::Test {
    SqliteSink() {
        EXPECT_TRUE(database->execute("CREATE TABLE totals (house TEXT PRIMARY KEY, events INT)"));
    }
    std::unique_ptr<Transaction> begin(std::uint32_t partition = 0) {
        auto transaction = transactions.begin(PartitionId{partition});
        EXPECT_TRUE(transaction) << to_string(transaction.error());
        return std::move(*transaction);
    }
    static int run(Transaction& transaction, const char* sql) {
        return sqlite3_exec(static_cast<sqlite3*>(transaction.native()), sql, nullptr, nullptr,
                            nullptr);
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

    const SystemClock clock{};
    const test::TemporaryDirectory directory;
    const std::string file = directory.path() + "/a.db";
    const GroupName group{"localhost", "homes", "$Default"};
    std::unique_ptr<Database> database = std::move(*Database::open(file, clock, clock.now() + 60s));
    SqliteTable table = *SqliteTable::open(*database, group);
    SqliteTransactions transactions{file, group, clock, 60s};
};

TEST_F(SqliteSink, result_and_position_are_committed_as_one) {
    const auto transaction = begin();
    ASSERT_EQ(run(*transaction, "INSERT INTO totals VALUES ('a', 1)"), SQLITE_OK);
    EXPECT_EQ(rows(), 0) << "not yet";

    const auto committed = transaction->commit(at(7, 1));

    ASSERT_TRUE(committed) << to_string(committed.error());
    EXPECT_EQ(rows(), 1);
    EXPECT_EQ(sequence(), 7);
}

TEST_F(SqliteSink, nothing_happened_if_it_is_not_committed) {
    ASSERT_EQ(run(*begin(), "INSERT INTO totals VALUES ('a', 1)"), SQLITE_OK);

    EXPECT_EQ(rows(), 0);
    EXPECT_EQ(sequence(), -1);
}

TEST_F(SqliteSink, a_fenced_owner_commits_nothing) {
    ASSERT_TRUE(table.seal(PartitionId{0}, Epoch{2}, {}));
    auto transaction = begin();
    ASSERT_EQ(run(*transaction, "INSERT INTO totals VALUES ('a', 1)"), SQLITE_OK);

    const auto committed = transaction->commit(at(7, 1));
    transaction.reset();

    ASSERT_FALSE(committed);
    EXPECT_EQ(committed.error().code, ErrorCode::fenced);
    EXPECT_EQ(rows(), 0);
}

TEST_F(SqliteSink, a_position_that_was_committed_before_is_refused_with_its_result) {
    {
        const auto first = begin();
        ASSERT_EQ(run(*first, "INSERT INTO totals VALUES ('a', 1)"), SQLITE_OK);
        ASSERT_TRUE(first->commit(at(7, 1)));
    }
    auto repeated = begin();
    ASSERT_EQ(run(*repeated, "INSERT INTO totals VALUES ('b', 1)"), SQLITE_OK);

    const auto committed = repeated->commit(at(6, 1));
    repeated.reset();

    ASSERT_FALSE(committed);
    EXPECT_EQ(committed.error().code, ErrorCode::conflict);
    EXPECT_EQ(rows(), 1);
    EXPECT_EQ(sequence(), 7);
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

TEST_F(SqliteSink, another_partition_cannot_be_committed) {
    const auto transaction = begin(1);
    const auto committed = transaction->commit(at(1, 1));
    ASSERT_FALSE(committed);
    EXPECT_EQ(committed.error().code, ErrorCode::invalid_argument);
}

TEST_F(SqliteSink, a_commit_that_statements_stand_in_the_way_of_says_so_and_applies_nothing) {
    auto transaction = begin();
    auto* native = static_cast<sqlite3*>(transaction->native());
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

TEST_F(SqliteSink, connections_are_used_again) {
    void* first = nullptr;
    for (int i = 0; i < 10; ++i) {
        const auto transaction = begin();
        if (first == nullptr) first = transaction->native();
        EXPECT_EQ(transaction->native(), first);
        ASSERT_TRUE(transaction->commit(at(i, 1)));
    }
}

}  // namespace
}  // namespace evenkeel::checkpoint
