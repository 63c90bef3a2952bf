#include "cli/text/event_table.h"

#include <algorithm>
#include <cctype>
#include <memory>

#include <fmt/core.h>
#include <sqlite3.h>

#include "base/result.h"
#include "base/time_point.h"

namespace evenkeel::cli {
namespace {

constexpr std::size_t table_name_max = 64;

// Only a row that is too large, or that the table forbids, is the event's failure. All else is the
// file's or the machine's.
Error failed(sqlite3* database, std::string_view what) {
    const int code = sqlite3_errcode(database) & 0xff;
    const bool is_event = code == SQLITE_TOOBIG || code == SQLITE_CONSTRAINT ||
                          code == SQLITE_MISMATCH || code == SQLITE_RANGE;
    return {is_event ? ErrorCode::handler_failed : ErrorCode::unavailable,
            fmt::format("{}: {}", what, sqlite3_errmsg(database))};
}

}  // namespace

Result<> check_table_name(std::string_view name) {
    const auto is_word = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    };
    std::string lower(name);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const bool is_good = !name.empty() && name.size() <= table_name_max &&
                         std::all_of(name.begin(), name.end(), is_word) &&
                         std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
                         !lower.starts_with("evenkeel_") && !lower.starts_with("sqlite_");
    if (is_good) return {};
    return Error{
        ErrorCode::invalid_argument,
        fmt::format("'{}' is not a valid table name: use letters, digits and '_', at most {}, not "
                    "beginning with a digit, evenkeel_ or sqlite_",
                    name, table_name_max)};
}

Result<> insert_events(sqlite3* database, const std::string& table, std::string_view event_hub,
                       std::uint32_t partition, Events events) {
    const std::string create = fmt::format(
        "CREATE TABLE IF NOT EXISTS \"{}\" (event_hub TEXT NOT NULL, partition INTEGER NOT NULL,"
        " sequence_number INTEGER NOT NULL, \"offset\" INTEGER NOT NULL,"
        " enqueued_ms INTEGER NOT NULL, partition_key TEXT NOT NULL, body BLOB NOT NULL)",
        table);
    if (sqlite3_exec(database, create.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
        return failed(database, "cannot create the table");
    }
    sqlite3_stmt* prepared = nullptr;
    const std::string insert = fmt::format(
        "INSERT INTO \"{}\" (event_hub, partition, sequence_number, \"offset\", enqueued_ms,"
        " partition_key, body) VALUES (?, ?, ?, ?, ?, ?, ?)",
        table);
    if (sqlite3_prepare_v2(database, insert.c_str(), -1, &prepared, nullptr) != SQLITE_OK) {
        return failed(database, "cannot insert into the table");
    }
    const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement(prepared,
                                                                          sqlite3_finalize);
    const auto text = [&](int place, std::string_view value) {
        // A null pointer would be NULL.
        sqlite3_bind_text(prepared, place, value.empty() ? "" : value.data(),
                          static_cast<int>(value.size()), SQLITE_TRANSIENT);
    };
    for (const Event& event : events) {
        text(1, event_hub);
        sqlite3_bind_int64(prepared, 2, partition);
        sqlite3_bind_int64(prepared, 3, event.sequence_number);
        sqlite3_bind_int64(prepared, 4, event.offset);
        sqlite3_bind_int64(prepared, 5, wall_time(event.enqueued_time).milliseconds);
        text(6, event.partition_key);
        const auto body = event.body();
        sqlite3_bind_zeroblob(prepared, 7, 0);
        if (!body.empty()) {
            sqlite3_bind_blob(prepared, 7, body.data(), static_cast<int>(body.size()),
                              SQLITE_TRANSIENT);
        }
        if (sqlite3_step(prepared) != SQLITE_DONE) {
            return failed(database, "cannot insert an event");
        }
        sqlite3_reset(prepared);
    }
    return {};
}

}  // namespace evenkeel::cli
