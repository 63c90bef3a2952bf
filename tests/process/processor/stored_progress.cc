#include "process/processor/stored_progress.h"

#include <sqlite3.h>

namespace evenkeel::lab {

StoredProgressReader::~StoredProgressReader() {
    sqlite3_close(database_);
}

std::optional<std::vector<StoredProgress>> StoredProgressReader::read() {
    if (database_ == nullptr &&
        sqlite3_open_v2(file_.c_str(), &database_, SQLITE_OPEN_READONLY, nullptr) != SQLITE_OK) {
        sqlite3_close(database_);
        database_ = nullptr;
        return {};
    }
    sqlite3_stmt* query = nullptr;
    if (sqlite3_prepare_v2(database_, "SELECT partition, sequence, epoch FROM evenkeel_checkpoint",
                           -1, &query, nullptr) != SQLITE_OK) {
        return {};
    }
    std::vector<StoredProgress> stored;
    int answer = SQLITE_ROW;
    while ((answer = sqlite3_step(query)) == SQLITE_ROW) {
        stored.push_back({static_cast<std::uint32_t>(sqlite3_column_int64(query, 0)),
                          sqlite3_column_int64(query, 1), sqlite3_column_int64(query, 2)});
    }
    sqlite3_finalize(query);
    if (answer != SQLITE_DONE) return {};
    return stored;
}

}  // namespace evenkeel::lab
