// The sink of exactly_once_sink.h in a PostgreSQL database: the same tables, handler and looks.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <poll.h>

#include "checkpoint/postgres/library.h"
#include "process/processor/exactly_once_sink.h"
#include <evenkeel/processor.h>

namespace evenkeel::test {

// Rows of one statement, or none if it failed. Parameters are numbers and short words of ours.
class PostgresAnswer {
public:
    PostgresAnswer(PGconn* connection, const std::string& statement) {
        if (library_.sendQuery(connection, statement.c_str()) != 1) return;
        is_ok_ = true;
        while (PGresult* const result = library_.getResult(connection)) {
            is_ok_ = is_ok_ && library_.resultStatus(result) != PGRES_FATAL_ERROR;
            result_.reset(result);  // of several statements the last
        }
    }
    bool ok() const { return is_ok_; }
    int size() const { return is_ok_ ? library_.ntuples(result_.get()) : 0; }
    std::string text(int row, int column) const {
        return library_.getvalue(result_.get(), row, column);
    }
    std::int64_t number(int row, int column) const { return std::atoll(text(row, column).c_str()); }

private:
    const checkpoint::PostgresLibrary& library_ = **checkpoint::PostgresLibrary::load();
    std::unique_ptr<PGresult, void (*)(PGresult*)> result_{nullptr, library_.clear};
    bool is_ok_ = false;
};

// The handler; `connection` is the partition's sink.
inline Result<> write_to_postgres(PGconn* connection, const Partition& partition, Events events,
                                  const std::string& owner) {
    const std::string id = std::to_string(partition.id());
    const Error failed{ErrorCode::handler_failed, "the sink refused a statement"};
    const PostgresAnswer read(connection,
                              "SELECT events, digest FROM totals WHERE partition = " + id);
    if (!read.ok()) return failed;
    SinkTotal total;
    if (read.size() > 0) total = {read.number(0, 0), read.number(0, 1)};
    std::string rows;
    for (const Event& event : events) {
        rows += (rows.empty() ? "(" : ",(") + id + "," + std::to_string(event.sequence_number) +
                ",'" + std::string(event.text()) + "','" + owner + "'," +
                std::to_string(partition.epoch()) + ")";
        total = with_event(total, event.text());
    }
    const PostgresAnswer written(
        connection, "INSERT INTO sink (partition, sequence, body, owner, epoch) VALUES " + rows +
                        "; INSERT INTO totals VALUES (" + id + "," + std::to_string(total.events) +
                        "," + std::to_string(total.digest) +
                        ") ON CONFLICT (partition) DO UPDATE SET events = EXCLUDED.events, digest ="
                        " EXCLUDED.digest");
    if (!written.ok()) return failed;
    return {};
}

// The test's own look at it.
class PostgresSink {
public:
    explicit PostgresSink(const std::string& url) : url_(url) {
        ask("DROP SCHEMA IF EXISTS evenkeel CASCADE; DROP TABLE IF EXISTS sink, totals;"
            "CREATE TABLE sink (id bigserial, partition bigint, sequence bigint, body text,"
            " owner text, epoch bigint);"
            "CREATE TABLE totals (partition bigint PRIMARY KEY, events bigint, digest bigint)");
    }
    ~PostgresSink() { disconnect(); }
    PostgresSink(const PostgresSink&) = delete;
    PostgresSink& operator=(const PostgresSink&) = delete;

    std::int64_t count() { return number("SELECT count(*) FROM sink"); }
    std::int64_t distinct() {
        return number("SELECT count(*) FROM (SELECT DISTINCT partition, sequence FROM sink) s");
    }
    std::string last_owner() {
        const auto found = ask("SELECT owner FROM sink ORDER BY id DESC LIMIT 1");
        return found.size() == 0 ? "" : found.text(0, 0);
    }
    // In the order in which they were committed: a partition's transactions come one by one.
    std::vector<SinkRow> rows(std::uint32_t partition) {
        const auto found = ask("SELECT sequence, body, owner, epoch FROM sink WHERE partition = " +
                               std::to_string(partition) + " ORDER BY id");
        std::vector<SinkRow> all;
        for (int row = 0; row < found.size(); ++row) {
            all.push_back({found.number(row, 0), found.text(row, 1), found.text(row, 2),
                           found.number(row, 3)});
        }
        return all;
    }
    SinkTotal total(std::uint32_t partition) {
        const auto found =
            ask("SELECT events, digest FROM totals WHERE partition = " + std::to_string(partition));
        return found.size() == 0 ? SinkTotal{} : SinkTotal{found.number(0, 0), found.number(0, 1)};
    }

private:
    std::int64_t number(const std::string& statement) {
        const auto found = ask(statement);
        return found.size() == 0 ? 0 : found.number(0, 0);
    }
    // Again on a new connection if the server has gone away meanwhile, and come back.
    PostgresAnswer ask(const std::string& statement) {
        for (int attempt = 0;; ++attempt) {
            if (connection_ == nullptr) connect();
            PostgresAnswer answer(connection_, statement);
            if (answer.ok() || attempt == 100) return answer;
            disconnect();
        }
    }
    void connect() {
        const char* const names[] = {"dbname", "options", nullptr};
        const char* const values[] = {url_.c_str(), "-c client_min_messages=error", nullptr};
        connection_ = library_.connectStartParams(names, values, 1);
        PostgresPollingStatusType status = PGRES_POLLING_WRITING;
        while (status != PGRES_POLLING_OK && status != PGRES_POLLING_FAILED) {
            pollfd ready{library_.socket(connection_),
                         static_cast<short>(status == PGRES_POLLING_READING ? POLLIN : POLLOUT), 0};
            ::poll(&ready, 1, 1000);
            status = library_.connectPoll(connection_);
        }
        if (status == PGRES_POLLING_FAILED) ::poll(nullptr, 0, 50);  // tidy: allow sleep: no socket
    }
    void disconnect() {
        if (connection_ != nullptr) library_.finish(connection_);
        connection_ = nullptr;
    }

    const std::string url_;
    const checkpoint::PostgresLibrary& library_ = **checkpoint::PostgresLibrary::load();
    PGconn* connection_ = nullptr;
};

}  // namespace evenkeel::test
