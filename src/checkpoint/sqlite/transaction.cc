#include "checkpoint/sqlite/transaction.h"

#include <utility>

#include "base/check.h"
#include "base/random.h"

namespace evenkeel::checkpoint {

class SqliteTransaction final : public Transaction {
public:
    using Connection = SqliteTransactions::Connection;

    SqliteTransaction(SqliteTransactions& home, std::unique_ptr<Connection> connection,
                      PartitionId partition)
        : home_(home), connection_(std::move(connection)), partition_(partition) {}

    ~SqliteTransaction() override {
        if (!connection_) return;
        rollback();
        home_.give_back(std::move(connection_));
    }

    Native native() override {
        return {.sqlite = connection_ ? connection_->database->native() : nullptr};
    }

    Result<> commit(const Checkpoint& checkpoint) override {
        EK_CHECK(!is_ended_, "a transaction was committed twice");
        is_ended_ = true;
        EK_TRY(check_partition(checkpoint, partition_));
        Database& database = *connection_->database;
        if (!database.is_in_transaction()) {
            return Error{ErrorCode::invalid_argument,
                         "the handler ended the transaction: an ON CONFLICT ROLLBACK of its own, "
                         "or a failed write; nothing of it was stored"};
        }
        database.unguard_transaction();
        database.set_deadline(home_.clock_.now() + home_.wait_max_);
        const std::string stamp = secure_hex(12);
        EK_TRY(connection_->table.write_checkpoint(checkpoint, home_.moment(), stamp));
        const Result<> committed = database.commit();
        if (committed.ok()) return {};
        return outcome(stamp, committed.error());
    }

private:
    void rollback() {
        connection_->database->unguard_transaction();
        connection_->database->rollback();
    }

    // The commit failed, or seems to: what the file says counts, seen through another connection.
    Result<> outcome(const std::string& stamp, const Error& failure) {
        rollback();
        connection_.reset();
        EK_TRY_ASSIGN(auto fresh, home_.connect());
        EK_TRY_ASSIGN(const std::string stored, fresh->table.read_stamp(partition_));
        if (stored == stamp) return {};
        return failure;
    }

    SqliteTransactions& home_;
    std::unique_ptr<Connection> connection_;  // none after a failure
    const PartitionId partition_;
    bool is_ended_ = false;
};

SqliteTransactions::SqliteTransactions(std::string file, GroupName group, const Clock& clock,
                                       Duration wait_max)
    : file_(std::move(file)), group_(std::move(group)), clock_(clock), wait_max_(wait_max) {}

SqliteTransactions::~SqliteTransactions() = default;

Result<std::unique_ptr<Transaction>> SqliteTransactions::begin(PartitionId partition) {
    std::unique_ptr<Connection> connection = idle_.take();
    if (!connection) {
        EK_TRY_ASSIGN(connection, connect());
    }
    if (const Result<> here = connection->database->check_file(); !here.ok()) {
        idle_.give_back(std::move(connection));  // so that no other file is opened instead
        return here.error();
    }
    connection->database->set_deadline(clock_.now() + wait_max_);
    EK_TRY(connection->database->begin());
    connection->database->guard_transaction();
    return std::unique_ptr<Transaction>(
        new SqliteTransaction(*this, std::move(connection), partition));
}

Result<std::unique_ptr<SqliteTransactions::Connection>> SqliteTransactions::connect() {
    EK_TRY_ASSIGN(auto database, Database::open(file_, clock_, clock_.now() + wait_max_));
    EK_TRY_ASSIGN(const SqliteTable table, SqliteTable::open(*database, group_));
    return std::make_unique<Connection>(Connection{std::move(database), table});
}

void SqliteTransactions::give_back(std::unique_ptr<Connection> connection) {
    // A rollback that failed, or a statement of the handler that is still running: not again.
    const Database& database = *connection->database;
    if (database.is_in_transaction() || database.has_running_statements()) return;
    idle_.give_back(std::move(connection));
}

}  // namespace evenkeel::checkpoint
