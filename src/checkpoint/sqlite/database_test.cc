#include "checkpoint/sqlite/database.h"

#include <chrono>
#include <cstdio>

#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "support/temporary_directory.h"

namespace evenkeel::checkpoint {
namespace {

using namespace std::chrono_literals;

struct DatabaseFile : testing::Test {
    Result<std::unique_ptr<Database>> open(const std::string& name, Duration wait = 5s) {
        return Database::open(directory.path() + "/" + name, clock, clock.now() + wait);
    }
    void write_file(const std::string& name, const std::string& content) {
        std::FILE* file = std::fopen((directory.path() + "/" + name).c_str(), "w");
        ASSERT_NE(file, nullptr);
        ASSERT_EQ(std::fwrite(content.data(), 1, content.size(), file), content.size());
        std::fclose(file);
    }

    const SystemClock clock{};
    const test::TemporaryDirectory directory;
};

using DatabaseOpen = DatabaseFile;

TEST_F(DatabaseOpen, has_a_write_ahead_log_and_syncs_every_commit) {
    const auto database = open("a.db");
    ASSERT_TRUE(database) << to_string(database.error());
    Query mode = (*database)->query("PRAGMA journal_mode");
    ASSERT_TRUE(*mode.next());
    EXPECT_EQ(mode.text(0), "wal");
    Query synchronous = (*database)->query("PRAGMA synchronous");
    ASSERT_TRUE(*synchronous.next());
    EXPECT_EQ(synchronous.integer(0), 2) << "FULL";
}

TEST_F(DatabaseOpen, a_missing_folder_is_named) {
    const auto database = open("nowhere/a.db");
    ASSERT_FALSE(database);
    EXPECT_EQ(database.error().code, ErrorCode::not_found);
    EXPECT_NE(database.error().detail.find("nowhere/a.db': its folder does not exist; create it"),
              std::string::npos)
        << database.error().detail;
}

TEST_F(DatabaseOpen, a_file_that_is_no_database_is_refused_and_left_alone) {
    write_file("notes.txt", std::string(5000, 'x'));
    const auto database = open("notes.txt");
    ASSERT_FALSE(database);
    EXPECT_EQ(database.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(database.error().detail.find("notes.txt': the file is not a SQLite database"),
              std::string::npos)
        << database.error().detail;
}

TEST_F(DatabaseOpen, a_folder_is_no_file) {
    const auto database = Database::open(directory.path(), clock, clock.now() + 1s);
    ASSERT_FALSE(database);
    EXPECT_EQ(database.error().code, ErrorCode::invalid_argument) << database.error().detail;
}

TEST_F(DatabaseOpen, a_file_without_the_right_to_write_says_so) {
    if (::geteuid() == 0) GTEST_SKIP() << "root may write everything";
    ASSERT_TRUE(open("a.db"));
    ASSERT_EQ(::chmod((directory.path() + "/a.db").c_str(), 0400), 0);
    const auto database = open("a.db");
    ASSERT_FALSE(database);
    EXPECT_EQ(database.error().code, ErrorCode::invalid_argument) << database.error().detail;
}

TEST_F(DatabaseOpen, a_folder_without_the_right_to_write_says_so) {
    if (::geteuid() == 0) GTEST_SKIP() << "root may write everything";
    ASSERT_EQ(::chmod(directory.path().c_str(), 0500), 0);
    const auto database = open("a.db");
    ::chmod(directory.path().c_str(), 0700);
    ASSERT_FALSE(database);
    EXPECT_NE(database.error().detail.find("a.db"), std::string::npos) << database.error().detail;
}

TEST_F(DatabaseOpen, a_name_that_means_something_to_sqlite_is_a_file_here) {
    for (const char* name : {":memory:", "file:b.db?mode=ro"}) {
        const auto database = open(name);
        ASSERT_TRUE(database) << to_string(database.error());
        EXPECT_EQ(::access((directory.path() + "/" + name).c_str(), F_OK), 0);
    }
    EXPECT_FALSE(Database::open("", clock, clock.now()));
}

using DatabaseLock = DatabaseFile;

TEST_F(DatabaseLock, waiting_for_it_ends_at_the_deadline) {
    const auto holder = open("a.db");
    const auto waiter = open("a.db");
    ASSERT_TRUE(holder && waiter);
    ASSERT_TRUE((*holder)->begin());
    const Instant asked = clock.now();

    (*waiter)->set_deadline(asked + 100ms);
    const auto refused = (*waiter)->begin();

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
    EXPECT_GE(clock.now() - asked, Duration(95ms));
    EXPECT_LT(clock.now() - asked, Duration(5s));
    (*holder)->rollback();
    (*waiter)->set_deadline(clock.now() + 5s);
    EXPECT_TRUE((*waiter)->begin());
}

TEST_F(DatabaseLock, waiting_for_it_ends_when_stopped) {
    const auto holder = open("a.db");
    const auto waiter = open("a.db");
    ASSERT_TRUE((*holder)->begin());
    (*waiter)->set_deadline(clock.now() + 1h);

    (*waiter)->stop();

    EXPECT_FALSE((*waiter)->begin());
}

TEST_F(DatabaseFile, a_guarded_transaction_is_not_ended_by_a_statement) {
    const auto database = open("a.db");
    ASSERT_TRUE((*database)->begin());

    (*database)->guard_transaction();
    EXPECT_FALSE((*database)->execute("COMMIT"));
    EXPECT_FALSE((*database)->execute("ROLLBACK"));
    EXPECT_TRUE((*database)->execute("SAVEPOINT a; CREATE TABLE t (x); RELEASE a;"));
    EXPECT_TRUE((*database)->is_in_transaction());
    (*database)->unguard_transaction();

    EXPECT_TRUE((*database)->commit());
}

TEST_F(DatabaseFile, a_statement_that_cannot_be_prepared_fails_when_run) {
    const auto database = open("a.db");
    Query query = (*database)->query("SELECT nonsense FROM nowhere");
    query.bind(std::int64_t{1}).bind("text");
    const auto row = query.next();
    ASSERT_FALSE(row);
    EXPECT_NE(row.error().detail.find("a.db"), std::string::npos);
}

}  // namespace
}  // namespace evenkeel::checkpoint
