// A SQLite file of a test's own.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "checkpoint/sqlite/database.h"
#include "checkpoint/store.h"
#include "support/temporary_directory.h"

namespace evenkeel::checkpoint {

struct WithSqliteFile : testing::Test {
    std::unique_ptr<Database> open() {
        auto database = Database::open(file, clock, clock.now() + std::chrono::seconds(60));
        EXPECT_TRUE(database) << to_string(database.error());
        return std::move(*database);
    }

    const SystemClock clock{};
    const test::TemporaryDirectory directory;
    const std::string file = directory.path() + "/a.db";
    const GroupName group{"localhost", "homes", "$Default"};
};

}  // namespace evenkeel::checkpoint
