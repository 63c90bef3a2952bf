// Transactions on a SQLite file (checkpoint/transaction.h), each on a connection of its own that
// later ones use again.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "checkpoint/sqlite/table.h"
#include "checkpoint/transaction.h"
#include "checkpoint/transaction_pool.h"

namespace evenkeel::checkpoint {

class SqliteTransactions final : public Transactions {
public:
    // `wait_max` bounds the wait for other writers in begin(). `clock` outlives it.
    SqliteTransactions(std::string file, GroupName group, const Clock& clock, Duration wait_max);
    ~SqliteTransactions() override;

    Result<std::unique_ptr<Transaction>> begin(PartitionId partition) override;

private:
    friend class SqliteTransaction;
    struct Connection {
        std::unique_ptr<Database> database;
        SqliteTable table;
    };

    Result<std::unique_ptr<Connection>> connect();
    void give_back(std::unique_ptr<Connection> connection);
    Moment moment() const { return {clock_.now(), clock_.wall()}; }

    const std::string file_;
    const GroupName group_;
    const Clock& clock_;
    const Duration wait_max_;
    ConnectionPool<Connection> idle_;
};

}  // namespace evenkeel::checkpoint
