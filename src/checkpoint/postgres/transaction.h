// Transactions on a PostgreSQL database (checkpoint/transaction.h), each on a connection of its own
// that later ones use again. native() is libpq's PGconn*, in an open transaction.
//
// A commit whose answer was lost is settled on another connection: it has happened, or never will.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/clock.h"
#include "checkpoint/postgres/connection.h"
#include "checkpoint/transaction.h"
#include "checkpoint/transaction_pool.h"

namespace evenkeel::checkpoint {

class PostgresTransactions final : public Transactions {
public:
    // `wait_max` bounds begin() and commit(); what the handler does is its own affair. `clock`
    // outlives it.
    PostgresTransactions(PostgresAddress address, GroupName group, const Clock& clock,
                         Duration wait_max);
    ~PostgresTransactions() override;

    Result<std::unique_ptr<Transaction>> begin(PartitionId partition) override;

private:
    friend class PostgresTransaction;
    struct Session {
        std::unique_ptr<PostgresConnection> connection;
        std::int64_t group = 0;
    };

    Result<std::unique_ptr<Session>> connect();
    Instant deadline() const { return clock_.now() + wait_max_; }

    const PostgresAddress address_;
    const GroupName group_;
    const Clock& clock_;
    const Duration wait_max_;
    const std::atomic<bool> never_ = false;
    ConnectionPool<Session> idle_;
};

}  // namespace evenkeel::checkpoint
