// The checkpoints in a SQLite store, read from the file itself and not by the code under test.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "process/processor/progress_checker.h"

struct sqlite3;

namespace evenkeel::lab {

class StoredProgressReader {
public:
    explicit StoredProgressReader(std::string file) : file_(std::move(file)) {}
    ~StoredProgressReader();
    StoredProgressReader(const StoredProgressReader&) = delete;
    StoredProgressReader& operator=(const StoredProgressReader&) = delete;

    // None while the file is not made yet, or somebody holds it.
    std::optional<std::vector<StoredProgress>> read();

private:
    const std::string file_;
    sqlite3* database_ = nullptr;
};

}  // namespace evenkeel::lab
