#include "checkpoint/sqlite/table.h"

#include <chrono>

#include <gtest/gtest.h>

#include "checkpoint/sqlite/sqlite_fixture.h"

namespace evenkeel::checkpoint {
namespace {

using namespace std::chrono_literals;

struct SqliteTableFile : WithSqliteFile {};

TEST_F(SqliteTableFile, shares_the_file_with_the_users_tables) {
    const auto database = open();
    ASSERT_TRUE(database->execute("CREATE TABLE totals (house TEXT); PRAGMA user_version = 7;"));

    ASSERT_TRUE(SqliteTable::open(*database, group));

    Query version = database->query("PRAGMA user_version");
    ASSERT_TRUE(*version.next());
    EXPECT_EQ(version.integer(0), 7);
}

TEST_F(SqliteTableFile, an_entry_from_before_the_machine_started_has_an_age) {
    const auto database = open();
    auto table = SqliteTable::open(*database, group);
    ASSERT_TRUE(table);
    ASSERT_TRUE(
        table->write_member({.id = "a", .incarnation = "1"}, {{1'000'000'000'000}, {1'000}}));
    ASSERT_TRUE(
        table->write_member({.id = "b", .incarnation = "1"}, {{1'000'000'000'000}, {9'000}}));

    const auto listed = table->members({{5'000'000'000}, {3'000}});

    ASSERT_TRUE(listed);
    EXPECT_EQ(listed->at(0).age, Duration(2s)) << "by the wall clock";
    EXPECT_EQ(listed->at(1).age, Duration(0s)) << "which was set back";
    EXPECT_FALSE(listed->at(0).is_age_exact);
}

TEST_F(SqliteTableFile, ages_are_exact_and_told_so) {
    const auto database = open();
    auto table = SqliteTable::open(*database, group);
    ASSERT_TRUE(table);
    ASSERT_TRUE(table->write_member({.id = "a", .incarnation = "1"}, {{5'000'000'000}, {1'000}}));

    const auto listed = table->members({{5'250'000'001}, {900}});

    ASSERT_TRUE(listed);
    EXPECT_EQ(listed->at(0).age, Duration(250'000'001));
    EXPECT_TRUE(listed->at(0).is_age_exact);
}

TEST_F(SqliteTableFile, a_heartbeat_is_no_change_but_an_offer_is) {
    const auto database = open();
    auto table = SqliteTable::open(*database, group);
    ASSERT_TRUE(table);
    Member member{.id = "a", .incarnation = "1"};
    member.version = *table->write_member(member, {});
    const std::int64_t before = *table->changes();

    member.note = "host:1";
    member.version = *table->write_member(member, {});
    EXPECT_EQ(*table->changes(), before);
    member.offers = {{{1}, "b"}};
    member.version = *table->write_member(member, {});
    EXPECT_EQ(*table->changes(), before + 1);
    ASSERT_TRUE(table->write_ownership({.partition = {0}, .owner = "a", .epoch = {1}}, {}));
    EXPECT_EQ(*table->changes(), before + 2);
    ASSERT_TRUE(table->write_checkpoint({.partition = {0}, .sequence = {1}, .epoch = {1}}, {}));
    EXPECT_EQ(*table->changes(), before + 2);
}

}  // namespace
}  // namespace evenkeel::checkpoint
