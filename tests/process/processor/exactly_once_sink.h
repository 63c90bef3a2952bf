// The sink of tests of exactly-once delivery: tables in the checkpoint store's own file. Every
// event is appended without a key, so that a repeated one shows, and goes into a digest per
// partition that depends on each event, its value and the order.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <sqlite3.h>

#include <evenkeel/error.h>
#include <evenkeel/processor.h>

namespace evenkeel::test {

struct SinkRow {
    std::int64_t sequence = 0;
    std::string body;
    std::string owner;
    std::int64_t epoch = 0;
};

struct SinkTotal {
    std::int64_t events = 0;
    std::int64_t digest = 0;
    bool operator==(const SinkTotal&) const = default;
};

// Also what the handler's UPDATE computes.
inline SinkTotal with_event(SinkTotal total, std::string_view body) {
    const auto value =
        static_cast<std::int64_t>(body.size()) + std::atoll(std::string(body).c_str());
    return {total.events + 1, (total.digest * 31 + value) % 2147483647};
}

// A statement that is finalized before the transaction ends.
class SinkStatement {
public:
    SinkStatement(sqlite3* database, const char* text) : database_(database) {
        sqlite3_prepare_v2(database, text, -1, &statement_, nullptr);
    }
    ~SinkStatement() { sqlite3_finalize(statement_); }
    SinkStatement(const SinkStatement&) = delete;
    SinkStatement& operator=(const SinkStatement&) = delete;

    SinkStatement& with(int place, std::int64_t value) {
        sqlite3_bind_int64(statement_, place, value);
        return *this;
    }
    SinkStatement& with(int place, std::string_view value) {
        sqlite3_bind_text(statement_, place, value.data(), static_cast<int>(value.size()),
                          SQLITE_TRANSIENT);
        return *this;
    }
    Result<> run() {
        const int code = sqlite3_step(statement_);
        sqlite3_reset(statement_);
        if (code == SQLITE_DONE) return {};
        return Error{ErrorCode::handler_failed, sqlite3_errmsg(database_)};
    }
    bool next() { return sqlite3_step(statement_) == SQLITE_ROW; }
    std::int64_t number(int column) { return sqlite3_column_int64(statement_, column); }
    std::string text(int column) {
        const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
        return bytes == nullptr ? std::string() : bytes;
    }

private:
    sqlite3* database_;
    sqlite3_stmt* statement_ = nullptr;
};

// The handler; `database` is the partition's sink.
inline Result<> write_to_sink(sqlite3* database, const Partition& partition, Events events,
                              const std::string& owner) {
    SinkStatement append(database, "INSERT INTO sink VALUES(?1, ?2, ?3, ?4, ?5)");
    SinkStatement read(database, "SELECT events, digest FROM totals WHERE partition = ?1");
    SinkStatement replace(database, "REPLACE INTO totals VALUES(?1, ?2, ?3)");
    read.with(1, partition.id());
    SinkTotal total;
    if (read.next()) total = {read.number(0), read.number(1)};
    for (const Event& event : events) {
        const Result<> appended = append.with(1, partition.id())
                                      .with(2, event.sequence_number)
                                      .with(3, event.text())
                                      .with(4, owner)
                                      .with(5, partition.epoch())
                                      .run();
        if (!appended.ok()) return appended;
        total = with_event(total, event.text());
    }
    return replace.with(1, partition.id()).with(2, total.events).with(3, total.digest).run();
}

// The same in a transaction of its own, which knows nothing of positions and fences.
inline Result<> write_beside(const std::string& file, const Partition& partition, Events events,
                             const std::string& owner) {
    sqlite3* database = nullptr;
    sqlite3_open(file.c_str(), &database);
    sqlite3_busy_timeout(database, 10'000);
    Result<> written = Error{ErrorCode::handler_failed, "the sink is busy"};
    if (sqlite3_exec(database, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr) == SQLITE_OK) {
        written = write_to_sink(database, partition, events, owner);
        if (written.ok() &&
            sqlite3_exec(database, "COMMIT", nullptr, nullptr, nullptr) != SQLITE_OK) {
            written = Error{ErrorCode::handler_failed, sqlite3_errmsg(database)};
        }
    }
    sqlite3_close(database);
    return written;
}

// The test's own look at it.
class ExactlyOnceSink {
public:
    explicit ExactlyOnceSink(const std::string& file) {
        sqlite3_open(file.c_str(), &database_);
        sqlite3_busy_timeout(database_, 60'000);
        sqlite3_exec(database_,
                     "PRAGMA journal_mode = WAL;"
                     "CREATE TABLE sink(partition INTEGER, sequence INTEGER, body TEXT, "
                     "owner TEXT, epoch INTEGER);"
                     "CREATE TABLE totals(partition INTEGER PRIMARY KEY, events INTEGER, "
                     "digest INTEGER);",
                     nullptr, nullptr, nullptr);
    }
    ~ExactlyOnceSink() { sqlite3_close(database_); }
    ExactlyOnceSink(const ExactlyOnceSink&) = delete;
    ExactlyOnceSink& operator=(const ExactlyOnceSink&) = delete;

    // Rows are only ever added, so the largest row id is their number.
    std::int64_t count() {
        SinkStatement query(database_, "SELECT max(rowid) FROM sink");
        return query.next() ? query.number(0) : 0;
    }
    std::int64_t distinct() {
        SinkStatement query(database_,
                            "SELECT count(*) FROM (SELECT DISTINCT partition, sequence FROM sink)");
        return query.next() ? query.number(0) : 0;
    }
    std::string last_owner() {
        SinkStatement query(database_, "SELECT owner FROM sink ORDER BY rowid DESC LIMIT 1");
        return query.next() ? query.text(0) : "";
    }
    // In the order in which they were committed.
    std::vector<SinkRow> rows(std::uint32_t partition) {
        SinkStatement query(database_,
                            "SELECT sequence, body, owner, epoch FROM sink WHERE partition = ?1 "
                            "ORDER BY rowid");
        query.with(1, partition);
        std::vector<SinkRow> all;
        while (query.next()) {
            all.push_back({query.number(0), query.text(1), query.text(2), query.number(3)});
        }
        return all;
    }
    SinkTotal total(std::uint32_t partition) {
        SinkStatement query(database_, "SELECT events, digest FROM totals WHERE partition = ?1");
        query.with(1, partition);
        return query.next() ? SinkTotal{query.number(0), query.number(1)} : SinkTotal{};
    }

private:
    sqlite3* database_ = nullptr;
};

}  // namespace evenkeel::test
