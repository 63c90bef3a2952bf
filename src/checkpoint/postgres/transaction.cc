#include "checkpoint/postgres/transaction.h"

#include <utility>

#include "base/check.h"
#include "base/random.h"
#include "checkpoint/postgres/schema.h"
#include "checkpoint/postgres/table.h"

namespace evenkeel::checkpoint {

class PostgresTransaction final : public Transaction {
public:
    using Session = PostgresTransactions::Session;

    PostgresTransaction(PostgresTransactions& home, std::unique_ptr<Session> session,
                        PartitionId partition, std::string id, std::string stamp_before)
        : home_(home),
          session_(std::move(session)),
          partition_(partition),
          id_(std::move(id)),
          stamp_before_(std::move(stamp_before)) {}

    ~PostgresTransaction() override { end(); }

    Native native() override {
        return {.postgres = session_ ? session_->connection->native() : nullptr};
    }

    Result<> commit(const Checkpoint& checkpoint) override {
        EK_CHECK(!is_ended_, "a transaction was committed twice");
        is_ended_ = true;
        EK_TRY(check_partition(checkpoint, partition_));
        switch (session_->connection->transaction_status()) {
            case PQTRANS_INTRANS: break;
            case PQTRANS_UNKNOWN:
                return Error{ErrorCode::unavailable,
                             "the handler's connection was lost; nothing of it was stored"};
            case PQTRANS_INERROR:
                return Error{ErrorCode::invalid_argument,
                             "a statement of the handler has failed, which ends a transaction in "
                             "PostgreSQL; nothing of it was stored"};
            default:
                return Error{ErrorCode::invalid_argument,
                             "the handler ended the transaction itself, or left a statement "
                             "running; what it did not commit was rolled back"};
        }
        const std::string stamp = secure_hex(12);
        const Instant deadline = home_.deadline();
        const auto ended = session_->connection->run(
            postgres::end_transaction(session_->group, checkpoint, id_, stamp_before_, stamp),
            deadline);
        if (!ended.ok()) {
            // It was not committed, and never will be: that takes a COMMIT, which was not sent.
            return ended.error();
        }
        EK_TRY(postgres::transaction_ended(*ended, checkpoint));
        const auto committed = session_->connection->execute("COMMIT", deadline);
        if (committed.ok()) return {};
        return outcome(stamp, committed.error());
    }

private:
    // Back to the others, if it is as they need it; else closed, which rolls back.
    void end() {
        if (!session_) return;
        PostgresConnection& connection = *session_->connection;
        if (connection.is_broken()) return;
        const auto status = connection.transaction_status();
        if (status == PQTRANS_INTRANS || status == PQTRANS_INERROR) {
            if (!connection.execute("ROLLBACK", home_.deadline()).ok()) return;
        } else if (status != PQTRANS_IDLE) {
            return;
        }
        home_.idle_.give_back(std::move(session_));
    }

    // The commit failed, or its answer was lost: what the database says counts.
    Result<> outcome(const std::string& stamp, const Error& failure) {
        session_.reset();
        EK_TRY_ASSIGN(auto fresh, home_.connect());
        EK_TRY_ASSIGN(const PostgresRows settled,
                      fresh->connection->run(postgres::settle(fresh->group, partition_, stamp),
                                             home_.deadline()));
        home_.idle_.give_back(std::move(fresh));
        if (settled.size() == 1 && settled.boolean(0, 0)) return {};
        return failure;
    }

    PostgresTransactions& home_;
    std::unique_ptr<Session> session_;  // none after a failure
    const PartitionId partition_;
    const std::string id_;
    const std::string stamp_before_;
    bool is_ended_ = false;
};

PostgresTransactions::PostgresTransactions(PostgresAddress address, GroupName group,
                                           const Clock& clock, Duration wait_max)
    : address_(std::move(address)), group_(std::move(group)), clock_(clock), wait_max_(wait_max) {}

PostgresTransactions::~PostgresTransactions() = default;

Result<std::unique_ptr<Transaction>> PostgresTransactions::begin(PartitionId partition) {
    for (;;) {
        std::unique_ptr<Session> session = idle_.take();
        const bool is_fresh = !session;
        if (is_fresh) {
            EK_TRY_ASSIGN(session, connect());
        }
        PostgresConnection& connection = *session->connection;
        const auto begun = connection.execute("BEGIN", deadline());
        if (!begun.ok()) {
            if (!is_fresh && connection.is_broken()) continue;  // it died while nobody used it
            return begun.error();
        }
        EK_TRY_ASSIGN(
            const PostgresRows found,
            connection.run(postgres::begin_transaction(session->group, partition), deadline()));
        if (found.size() == 0) {
            return Error{ErrorCode::unsupported, address_.shown() + ": no transaction was begun"};
        }
        std::string id = found.text(0, 0);
        std::string stamp = found.text(0, 1);
        return std::unique_ptr<Transaction>(new PostgresTransaction(
            *this, std::move(session), partition, std::move(id), std::move(stamp)));
    }
}

Result<std::unique_ptr<PostgresTransactions::Session>> PostgresTransactions::connect() {
    const Instant until = deadline();
    EK_TRY_ASSIGN(auto connection,
                  PostgresConnection::connect(address_, {clock_, never_, Duration(0)}, until));
    EK_TRY(prepare_postgres_schema(*connection, address_, until));
    EK_TRY_ASSIGN(const PostgresRows found, connection->run(postgres::find_group(group_), until));
    if (found.size() == 0) {
        return Error{ErrorCode::unsupported, address_.shown() + ": no group was made"};
    }
    return std::make_unique<Session>(Session{std::move(connection), found.integer(0, 0)});
}

}  // namespace evenkeel::checkpoint
