#include "checkpoint/sqlite/database.h"

#include <cerrno>
#include <chrono>
#include <cstring>

#include <unistd.h>

#include <fmt/format.h>
#include <sqlite3.h>

#include "base/check.h"

namespace evenkeel::checkpoint {

namespace {

constexpr Duration turn_max = std::chrono::milliseconds(250);

}  // namespace

Result<std::unique_ptr<Database>> Database::open(const std::string& file, const Clock& clock,
                                                 Instant deadline) {
    EK_TRY_ASSIGN(auto database, connect(file, clock, deadline, SQLITE_OPEN_CREATE));
    EK_TRY(database->configure());
    return database;
}

Result<std::unique_ptr<Database>> Database::look(const std::string& file, const Clock& clock,
                                                 Instant deadline) {
    auto database = connect(file, clock, deadline, 0);
    const bool is_missing = !database.ok() && database.error().code == ErrorCode::not_found;
    if (is_missing) return std::unique_ptr<Database>();
    return database;
}

Result<std::unique_ptr<Database>> Database::connect(const std::string& file, const Clock& clock,
                                                    Instant deadline, int more_flags) {
    if (file.empty()) {
        return Error{ErrorCode::invalid_argument, "a checkpoint store needs a file: sqlite:FILE"};
    }
    std::unique_ptr<Database> database(new Database(file, clock));
    database->set_deadline(deadline);
    // A path that begins with ':' or "file:" would mean something else to SQLite.
    const std::string path = file[0] == '/' ? file : "./" + file;
    const int flags =
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_FULLMUTEX | SQLITE_OPEN_EXRESCODE | more_flags;
    const int code = sqlite3_open_v2(path.c_str(), &database->database_, flags, nullptr);
    EK_CHECK(database->database_ != nullptr, "no memory for a database");
    if (code != SQLITE_OK) {
        const Error error = database->error(code);
        // SQLite has tried to create it, then to read it, and reports the second.
        const std::string folder = path.substr(0, path.rfind('/') + 1);
        const bool is_refused = error.code == ErrorCode::not_found &&
                                (more_flags & SQLITE_OPEN_CREATE) != 0 &&
                                access(folder.c_str(), F_OK) == 0;
        if (!is_refused) return error;
        return Error{ErrorCode::invalid_argument,
                     fmt::format("checkpoint store '{}': no right to create it in its folder; "
                                 "change the rights, or give another path",
                                 file)};
    }
    sqlite3_busy_handler(database->database_, &on_busy, database.get());
    sqlite3_set_authorizer(database->database_, &on_authorize, database.get());
    return database;
}

Result<> Database::configure() {
    // Two that switch a new file to the write-ahead log at once get an error without the busy
    // handler being asked, so we ask it.
    for (;;) {
        Query query = this->query("PRAGMA journal_mode = WAL");
        const Result<bool> row = query.next();
        if (row.ok()) {
            if (query.text(0) == "wal") break;
            return Error{ErrorCode::unsupported,
                         fmt::format("checkpoint store '{}' cannot have a write-ahead log here: "
                                     "put it on a local disk",
                                     file_)};
        }
        if (row.error().code != ErrorCode::unavailable || !pause()) {
            return row.error();
        }
    }
    return execute("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;");
}

Result<> Database::check_file() const {
    int has_moved = 0;
    const int code = sqlite3_file_control(database_, "main", SQLITE_FCNTL_HAS_MOVED, &has_moved);
    if (code != SQLITE_OK || has_moved == 0) return {};
    return Error{
        ErrorCode::corrupt,
        fmt::format("checkpoint store '{0}': the file was removed or replaced while it was "
                    "in use. Stop all processors of the group, put the right file there "
                    "without '{0}-wal' and '{0}-shm' of another one, look at it with "
                    "'evenkeel checkpoint ls', and start them again",
                    file_)};
}

Database::~Database() {
    for (const auto& [sql, statement] : statements_) sqlite3_finalize(statement);
    // The user's statements may be left; the connection ends with the last of them.
    sqlite3_close_v2(database_);
}

Query Database::query(const char* sql) {
    sqlite3_stmt*& statement = statements_[sql];
    int code = SQLITE_OK;
    if (statement == nullptr) {
        code =
            sqlite3_prepare_v3(database_, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
    }
    return {*this, statement, code};
}

Result<> Database::execute(const char* sql) {
    const int code = sqlite3_exec(database_, sql, nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) return error(code);
    return {};
}

Result<> Database::begin() {
    // SQLite's lock knows no queue: a process that writes all the time leaves it free for moments
    // only. In the turnstile one waits for it at a time, and who has just written is behind that
    // one. A process that was stopped in there must not keep others out for long.
    const Instant patience = clock_.now() + turn_max;
    while (!turnstile_.try_enter() && clock_.now() < patience && pause()) {
    }
    Result<> begun = query("BEGIN IMMEDIATE").run();
    turnstile_.leave();
    return begun;
}

Result<> Database::commit() {
    return query("COMMIT").run();
}

void Database::rollback() {
    // Some failures have rolled back by themselves; then there is nothing to do.
    if (is_in_transaction()) (void)query("ROLLBACK").run();
}

bool Database::is_in_transaction() const {
    return sqlite3_get_autocommit(database_) == 0;
}

bool Database::has_running_statements() const {
    for (sqlite3_stmt* statement = sqlite3_next_stmt(database_, nullptr); statement != nullptr;
         statement = sqlite3_next_stmt(database_, statement)) {
        if (sqlite3_stmt_busy(statement) != 0) return true;
    }
    return false;
}

int Database::on_busy(void* self, int /*tries*/) {
    return static_cast<Database*>(self)->pause() ? 1 : 0;
}

bool Database::pause() {
    if (stopping_ || clock_.now() >= deadline_) return false;
    sqlite3_sleep(1);
    return true;
}

int Database::on_authorize(void* self, int action, const char*, const char*, const char*,
                           const char*) {
    const bool is_refused =
        action == SQLITE_TRANSACTION && static_cast<Database*>(self)->is_guarded_;
    return is_refused ? SQLITE_DENY : SQLITE_OK;
}

Error Database::error(int code) const {
    const auto say = [&](ErrorCode kind, std::string_view what) {
        return Error{kind, fmt::format("checkpoint store '{}': {}", file_, what)};
    };
    switch (code & 0xff) {
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            return say(ErrorCode::unavailable,
                       "another process held its lock for too long; what it was doing may be "
                       "seen with: fuser -v FILE");
        case SQLITE_FULL: return say(ErrorCode::overloaded, "no space left; free some");
        case SQLITE_NOTADB:
            return say(ErrorCode::invalid_argument,
                       "the file is not a SQLite database; give another one");
        case SQLITE_CORRUPT:
            return say(ErrorCode::corrupt,
                       fmt::format("the file is damaged ({}); restore it, or save what "
                                   "'sqlite3 FILE .recover' finds",
                                   sqlite3_errmsg(database_)));
        case SQLITE_TOOBIG:
        case SQLITE_CONSTRAINT:
        case SQLITE_MISMATCH: return say(ErrorCode::invalid_argument, sqlite3_errmsg(database_));
        case SQLITE_READONLY:
            return say(ErrorCode::invalid_argument,
                       "no right to write the file or to its folder; change the rights");
        case SQLITE_CANTOPEN:
        case SQLITE_PERM: break;
        default:
            return say(ErrorCode::unavailable,
                       fmt::format("{} ({})", sqlite3_errmsg(database_), code));
    }
    switch (const int number = sqlite3_system_errno(database_)) {
        case ENOENT:
            return say(ErrorCode::not_found,
                       "its folder does not exist; create it, or give "
                       "another path");
        case EACCES:
        case EPERM:
        case EROFS:
            return say(ErrorCode::invalid_argument,
                       "no right to open it; change the rights, or give another path");
        case EISDIR: return say(ErrorCode::invalid_argument, "this is a folder; give a file in it");
        default:
            return say(ErrorCode::unavailable,
                       fmt::format("cannot be opened: {}", std::strerror(number)));
    }
}

Query::~Query() {
    if (statement_ == nullptr) return;
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
}

Query& Query::bind(std::int64_t value) {
    note(sqlite3_bind_int64(statement_, ++parameters_, value));
    return *this;
}

Query& Query::bind(double value) {
    note(sqlite3_bind_double(statement_, ++parameters_, value));
    return *this;
}

Query& Query::bind(std::string_view value) {
    // An empty view may have no address, which would mean NULL.
    const char* data = value.empty() ? "" : value.data();
    note(sqlite3_bind_text64(statement_, ++parameters_, data, value.size(), SQLITE_TRANSIENT,
                             SQLITE_UTF8));
    return *this;
}

Query& Query::bind(ByteView value) {
    const void* data = value.empty() ? static_cast<const void*>("") : value.data();
    note(sqlite3_bind_blob64(statement_, ++parameters_, data, value.size(), SQLITE_TRANSIENT));
    return *this;
}

Result<bool> Query::next() {
    if (code_ != SQLITE_OK) return database_.error(code_);
    const int code = sqlite3_step(statement_);
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    note(code);
    return database_.error(code);
}

Result<> Query::run() {
    for (;;) {
        EK_TRY_ASSIGN(const bool more, next());
        if (!more) return {};
    }
}

std::int64_t Query::integer(int column) const {
    return sqlite3_column_int64(statement_, column);
}

double Query::real(int column) const {
    return sqlite3_column_double(statement_, column);
}

std::string Query::text(int column) const {
    const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
    return data == nullptr ? std::string() : std::string(data, size);
}

std::vector<std::byte> Query::bytes(int column) const {
    const auto* data = static_cast<const std::byte*>(sqlite3_column_blob(statement_, column));
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
    return data == nullptr ? std::vector<std::byte>() : std::vector<std::byte>(data, data + size);
}

void Query::note(int code) {
    if (code_ == SQLITE_OK) code_ = code;
}

}  // namespace evenkeel::checkpoint
