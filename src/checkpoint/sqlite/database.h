// SQLite's C interface, as little of it as we need, owned and closed by itself.
//
// Waiting for another process's lock is bounded by a deadline that the caller sets for each piece
// of work: `unavailable` after that. Error codes besides: overloaded (disk full), corrupt (damaged
// file), invalid_argument (not a database, no right to it), not_found (no such folder). `detail`
// names the file and what to do.
// Threads: one at a time; stop() any.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/result.h"
#include "io/system/turnstile.h"

struct sqlite3;
struct sqlite3_stmt;

namespace evenkeel::checkpoint {

class Query;

class Database {
public:
    // Opens or creates the file, for many processes at once: write-ahead log, and each commit on
    // stable storage before it returns. `clock` outlives it.
    static Result<std::unique_ptr<Database>> open(const std::string& file, const Clock& clock,
                                                  Instant deadline);
    // As it is, without a write; none if there is no such file.
    static Result<std::unique_ptr<Database>> look(const std::string& file, const Clock& clock,
                                                  Instant deadline);
    ~Database();
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    // How long the calls that follow may wait for locks.
    void set_deadline(Instant deadline) { deadline_ = deadline; }
    // Ends waiting for locks, now and from now on.
    void stop() { stopping_ = true; }

    // `sql` is one statement, and a literal: it is prepared once.
    Query query(const char* sql);
    // Any number of statements without parameters and rows.
    Result<> execute(const char* sql);

    // The write lock is taken by begin(), so that nothing in between can fail for it. Those who
    // wait for it have their turns, also against one that writes all the time.
    Result<> begin();
    // After a failure it is unknown whether it was applied.
    Result<> commit();
    void rollback();
    bool is_in_transaction() const;
    // Statements that were neither run to their end nor reset.
    bool has_running_statements() const;

    // Between these two calls statements that end the transaction are refused.
    void guard_transaction() { is_guarded_ = true; }
    void unguard_transaction() { is_guarded_ = false; }

    sqlite3* native() { return database_; }
    // `corrupt` if the file was removed or replaced since it was opened: what is written would be
    // invisible to all others.
    Result<> check_file() const;
    const std::string& file() const { return file_; }
    Error error(int code) const;

private:
    Database(const std::string& file, const Clock& clock)
        : file_(file), clock_(clock), turnstile_(file + "-turn") {}
    static int on_busy(void* self, int tries);
    static int on_authorize(void* self, int action, const char*, const char*, const char*,
                            const char*);
    static Result<std::unique_ptr<Database>> connect(const std::string& file, const Clock& clock,
                                                     Instant deadline, int more_flags);
    Result<> configure();
    // Waits a moment for a lock; false once there is no more time for it.
    bool pause();

    const std::string file_;
    const Clock& clock_;
    Instant deadline_;
    std::atomic<bool> stopping_ = false;
    bool is_guarded_ = false;
    io::system::Turnstile turnstile_;
    sqlite3* database_ = nullptr;
    std::unordered_map<const char*, sqlite3_stmt*> statements_;
};

// One run of a statement: bind() its parameters in order, then next() until it says false.
//
//     Query query = database.query("SELECT a, b FROM t WHERE c = ?");
//     query.bind(7);
//     EK_TRY_ASSIGN(const bool found, query.next());
class Query {
public:
    Query(Database& database, sqlite3_stmt* statement, int code)
        : database_(database), statement_(statement), code_(code) {}
    ~Query();
    Query(const Query&) = delete;
    Query& operator=(const Query&) = delete;

    Query& bind(std::int64_t value);
    Query& bind(double value);
    Query& bind(std::string_view value);
    Query& bind(ByteView value);

    // True: there is a row to look at.
    Result<bool> next();
    // Runs it to its end, without looking at rows.
    Result<> run();

    // Of the present row; columns count from 0.
    std::int64_t integer(int column) const;
    double real(int column) const;
    std::string text(int column) const;
    std::vector<std::byte> bytes(int column) const;

private:
    void note(int code);

    Database& database_;
    sqlite3_stmt* statement_;
    int code_;  // the first thing that went wrong
    int parameters_ = 0;
};

}  // namespace evenkeel::checkpoint
