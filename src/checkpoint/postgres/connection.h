// One connection to PostgreSQL, and statements on it: each a transaction of its own, many of them
// under way at once. Every wait has an end. Calls block.
// Threads: one at a time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "checkpoint/postgres/address.h"
#include "checkpoint/postgres/library.h"

namespace evenkeel::checkpoint {

// "SELECT $1::bigint" and its parameters, as text.
struct PostgresCommand {
    const char* sql = "";
    std::vector<std::string> parameters = {};
};

class PostgresRows {
public:
    PostgresRows() = default;
    PostgresRows(const PostgresLibrary& library, PGresult* result)
        : library_(&library), result_(result, library.clear) {}

    int size() const { return result_ ? library_->ntuples(result_.get()) : 0; }
    std::string text(int row, int column) const;
    std::int64_t integer(int row, int column) const;  // 0 if it is none
    double real(int row, int column) const;
    bool boolean(int row, int column) const { return text(row, column) == "t"; }

private:
    const PostgresLibrary* library_ = nullptr;
    std::unique_ptr<PGresult, void (*)(PGresult*)> result_{nullptr, nullptr};
};

class PostgresConnection {
public:
    // How a connection ends its waits before their time: when `*stopped` becomes true.
    struct Patience {
        const Clock& clock;
        const std::atomic<bool>& stopped;
        // The server gives up on a statement after that, on a lock in half of it; 0 = never.
        Duration statement_max;
    };

    // `not_allowed` for a wrong user or password, `not_found` for the database, else `unavailable`.
    static Result<std::unique_ptr<PostgresConnection>> connect(const PostgresAddress& address,
                                                               const Patience& patience,
                                                               Instant deadline);
    ~PostgresConnection();
    PostgresConnection(const PostgresConnection&) = delete;
    PostgresConnection& operator=(const PostgresConnection&) = delete;

    // An answer for each, in order; success is durable. `unavailable` may have been applied.
    std::vector<Result<PostgresRows>> run(const std::vector<PostgresCommand>& commands,
                                          Instant deadline);
    Result<PostgresRows> run(const PostgresCommand& command, Instant deadline);
    // A script without parameters: one transaction, unless it says otherwise.
    Result<PostgresRows> execute(const std::string& script, Instant deadline);

    // True if another connection has notified a channel that this one listens to.
    bool take_notifications();
    // Nothing can be done with it any more.
    bool is_broken() const { return is_broken_; }
    PGTransactionStatusType transaction_status() const;
    // For handlers: as libpq opens it, in blocking mode.
    PGconn* native() { return connection_; }

private:
    PostgresConnection(const PostgresLibrary& library, const PostgresAddress& address,
                       const Patience& patience, PGconn* connection)
        : library_(library), address_(address), patience_(patience), connection_(connection) {}
    Result<> greet(Instant deadline);
    Result<> prepare(Instant deadline);
    Result<> wait(short events, Instant deadline);
    Result<PGresult*> next_result(Instant deadline);
    Result<PostgresRows> read_answer(Instant deadline);
    Error broken(const std::string& why);
    Error refused(const PGresult* result);

    const PostgresLibrary& library_;
    const PostgresAddress& address_;
    const Patience patience_;
    PGconn* const connection_;
    bool is_broken_ = false;
};

}  // namespace evenkeel::checkpoint
