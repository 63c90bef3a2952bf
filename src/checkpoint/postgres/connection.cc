// tidy: no test: the contract of stores and postgres_store_test.cc test it on a server
#include "checkpoint/postgres/connection.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include <fmt/format.h>
#include <poll.h>

#include "base/number.h"
#include "checkpoint/postgres/error.h"

namespace evenkeel::checkpoint {

namespace {

// How soon a wait notices that it is to end.
constexpr std::int64_t slice_ms = 50;

void ignore_notice(void*, const char*) {}

}  // namespace

std::string PostgresRows::text(int row, int column) const {
    return {library_->getvalue(result_.get(), row, column),
            static_cast<std::size_t>(library_->getlength(result_.get(), row, column))};
}

std::int64_t PostgresRows::integer(int row, int column) const {
    return parse_number<std::int64_t>(text(row, column)).value_or(0);
}

double PostgresRows::real(int row, int column) const {
    return std::strtod(text(row, column).c_str(), nullptr);
}

Result<std::unique_ptr<PostgresConnection>> PostgresConnection::connect(
    const PostgresAddress& address, const Patience& patience, Instant deadline) {
    EK_TRY_ASSIGN(const PostgresLibrary* library, PostgresLibrary::load());
    std::vector<const char*> names, values;
    for (const auto& [name, value] : address.options()) {
        names.push_back(name.c_str());
        values.push_back(value.c_str());
    }
    for (const auto& [name, value] : {std::pair("fallback_application_name", "evenkeel"),
                                      std::pair("client_encoding", "UTF8")}) {
        names.push_back(name);
        values.push_back(value);
    }
    names.push_back(nullptr);
    values.push_back(nullptr);
    PGconn* const native = library->connectStartParams(names.data(), values.data(), 0);
    if (native == nullptr) return Error{ErrorCode::overloaded, "libpq: no memory"};
    std::unique_ptr<PostgresConnection> connection(
        new PostgresConnection(*library, address, patience, native));
    EK_TRY(connection->greet(deadline));
    EK_TRY(connection->prepare(deadline));
    return connection;
}

PostgresConnection::~PostgresConnection() {
    library_.finish(connection_);
}

Result<> PostgresConnection::greet(Instant deadline) {
    library_.setErrorVerbosity(connection_, PQERRORS_VERBOSE);  // with the SQLSTATE
    library_.setNoticeProcessor(connection_, &ignore_notice, nullptr);
    if (library_.status(connection_) == CONNECTION_BAD) {
        return postgres_connect_error(address_, library_.errorMessage(connection_));
    }
    short events = POLLOUT;
    for (;;) {
        EK_TRY(wait(events, deadline));
        switch (library_.connectPoll(connection_)) {
            case PGRES_POLLING_OK: return {};
            case PGRES_POLLING_READING: events = POLLIN; break;
            case PGRES_POLLING_WRITING: events = POLLOUT; break;
            default: return postgres_connect_error(address_, library_.errorMessage(connection_));
        }
    }
}

// What must hold whatever the server's or the user's settings are: success is durable, statements
// see what was committed before them, and nobody holds a lock for ever.
Result<> PostgresConnection::prepare(Instant deadline) {
    const char* const encoding = library_.parameterStatus(connection_, "server_encoding");
    if (encoding != nullptr && std::string_view(encoding) != "UTF8") {
        return Error{ErrorCode::unsupported,
                     fmt::format("{}: its encoding is {}, not UTF8; make one with: createdb -E "
                                 "UTF8 -T template0 NAME",
                                 address_.shown(), encoding)};
    }
    const auto milliseconds =
        std::chrono::duration_cast<std::chrono::milliseconds>(patience_.statement_max).count();
    const auto set =
        execute(fmt::format("SELECT set_config('synchronous_commit', 'on', false)"
                            " WHERE current_setting('synchronous_commit') = 'off';"
                            "SET default_transaction_isolation = 'read committed';"
                            "SET statement_timeout = {}; SET lock_timeout = {};"
                            "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5;"
                            "SET tcp_keepalives_count = 3; SET bytea_output = 'hex'",
                            milliseconds, milliseconds / 2),
                deadline);
    if (!set.ok()) return set.error();
    return {};
}

std::vector<Result<PostgresRows>> PostgresConnection::run(
    const std::vector<PostgresCommand>& commands, Instant deadline) {
    std::vector<Result<PostgresRows>> answers;
    answers.reserve(commands.size());
    library_.setnonblocking(connection_, 1);
    library_.enterPipelineMode(connection_);
    for (const PostgresCommand& command : commands) {
        std::vector<const char*> values;
        values.reserve(command.parameters.size());
        for (const auto& parameter : command.parameters) values.push_back(parameter.c_str());
        const bool is_sent =
            library_.sendQueryParams(connection_, command.sql, static_cast<int>(values.size()),
                                     nullptr, values.data(), nullptr, nullptr, 0) == 1 &&
            library_.pipelineSync(connection_) == 1;
        if (!is_sent) broken(library_.errorMessage(connection_));
    }
    for (std::size_t i = 0; i < commands.size(); ++i) {
        if (is_broken_) {
            answers.emplace_back(Error{ErrorCode::unavailable,
                                       address_.shown() + ": the connection was lost before"});
        } else {
            answers.push_back(read_answer(deadline));
        }
    }
    if (!is_broken_) {
        library_.exitPipelineMode(connection_);
        library_.setnonblocking(connection_, 0);
    }
    return answers;
}

Result<PostgresRows> PostgresConnection::run(const PostgresCommand& command, Instant deadline) {
    auto answers = run(std::vector<PostgresCommand>{command}, deadline);
    return std::move(answers[0]);
}

Result<PostgresRows> PostgresConnection::execute(const std::string& script, Instant deadline) {
    library_.setnonblocking(connection_, 1);
    if (library_.sendQuery(connection_, script.c_str()) != 1) {
        return broken(library_.errorMessage(connection_));
    }
    Result<PostgresRows> answer = PostgresRows();
    for (;;) {
        EK_TRY_ASSIGN(PGresult * result, next_result(deadline));
        if (result == nullptr) break;
        PostgresRows rows(library_, result);
        if (library_.resultStatus(result) == PGRES_FATAL_ERROR) {
            answer = refused(result);
        } else if (answer.ok()) {
            answer = std::move(rows);
        }
    }
    if (library_.status(connection_) == CONNECTION_BAD) {
        return broken(library_.errorMessage(connection_));
    }
    library_.setnonblocking(connection_, 0);
    return answer;
}

bool PostgresConnection::take_notifications() {
    if (is_broken_) return false;
    if (library_.consumeInput(connection_) != 1) {
        broken(library_.errorMessage(connection_));
        return false;
    }
    bool is_told = false;
    while (PGnotify* const notification = library_.notifies(connection_)) {
        is_told = is_told || notification->be_pid != library_.backendPID(connection_);
        library_.freemem(notification);
    }
    return is_told;
}

PGTransactionStatusType PostgresConnection::transaction_status() const {
    return library_.transactionStatus(connection_);
}

// The answer of one command of a pipeline: its rows count only when the commit behind it, which
// the synchronisation point is, has succeeded too.
Result<PostgresRows> PostgresConnection::read_answer(Instant deadline) {
    Result<PostgresRows> answer = PostgresRows();
    for (;;) {
        EK_TRY_ASSIGN(PGresult * result, next_result(deadline));
        if (result == nullptr) {
            if (library_.status(connection_) != CONNECTION_BAD) continue;  // the end of its rows
            return broken(library_.errorMessage(connection_));
        }
        PostgresRows rows(library_, result);
        switch (library_.resultStatus(result)) {
            case PGRES_PIPELINE_SYNC: return answer;
            case PGRES_PIPELINE_ABORTED: break;  // the error behind it was reported
            case PGRES_FATAL_ERROR:
                answer = refused(result);
                if (library_.status(connection_) == CONNECTION_BAD) {
                    broken("");
                    return answer;
                }
                break;
            default: answer = std::move(rows);
        }
    }
}

Result<PGresult*> PostgresConnection::next_result(Instant deadline) {
    for (;;) {
        const int unsent = library_.flush(connection_);
        if (unsent < 0) return broken(library_.errorMessage(connection_));
        if (library_.isBusy(connection_) == 0) return library_.getResult(connection_);
        EK_TRY(wait(unsent > 0 ? POLLIN | POLLOUT : POLLIN, deadline));
        if (library_.consumeInput(connection_) != 1) {
            return broken(library_.errorMessage(connection_));
        }
    }
}

Result<> PostgresConnection::wait(short events, Instant deadline) {
    for (;;) {
        const Duration left = deadline - patience_.clock.now();
        if (left <= Duration(0)) {
            is_broken_ = true;
            return Error{ErrorCode::timed_out,
                         fmt::format("{}: no answer in time", address_.shown())};
        }
        if (patience_.stopped) {
            is_broken_ = true;
            return Error{ErrorCode::cancelled, "the checkpoint store was closed"};
        }
        const auto milliseconds =
            std::chrono::duration_cast<std::chrono::milliseconds>(left).count() + 1;
        pollfd ready{library_.socket(connection_), events, 0};
        const int count = ::poll(&ready, 1, static_cast<int>(std::min(milliseconds, slice_ms)));
        if (count > 0) return {};
    }
}

Error PostgresConnection::broken(const std::string& why) {
    is_broken_ = true;
    return {ErrorCode::unavailable,
            fmt::format("{}: the connection was lost: {}", address_.shown(),
                        postgres_first_line(address_.without_secrets(why)))};
}

Error PostgresConnection::refused(const PGresult* result) {
    const auto field = [&](int code) {
        const char* const text = library_.resultErrorField(result, code);
        return std::string(text == nullptr ? "" : text);
    };
    const std::string state = field(PG_DIAG_SQLSTATE);
    if (state.empty()) {  // made by libpq: the connection is gone
        return broken(library_.errorMessage(connection_));
    }
    if (postgres_ends_connection(state)) is_broken_ = true;
    return postgres_error(address_, state, field(PG_DIAG_MESSAGE_PRIMARY));
}

}  // namespace evenkeel::checkpoint
