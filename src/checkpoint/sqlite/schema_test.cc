#include "checkpoint/sqlite/schema.h"

#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

#include "checkpoint/sqlite/sqlite_fixture.h"
#include "checkpoint/sqlite/table.h"
#include "support/paths.h"

namespace evenkeel::checkpoint {
namespace {

struct SqliteSchema : WithSqliteFile {};

TEST_F(SqliteSchema, of_a_newer_program_is_refused) {
    const auto database = open();
    ASSERT_TRUE(bring_schema(*database));
    ASSERT_TRUE(database->execute("UPDATE evenkeel_schema SET version = 99"));

    const auto brought = bring_schema(*database);

    ASSERT_FALSE(brought);
    EXPECT_EQ(brought.error().code, ErrorCode::unsupported);
    EXPECT_NE(brought.error().detail.find("its schema is 99, this program knows 2"),
              std::string::npos)
        << brought.error().detail;
}

TEST_F(SqliteSchema, of_an_older_version_is_upgraded_with_its_checkpoints) {
    {
        const auto database = open();
        auto table = SqliteTable::open(*database, group);
        ASSERT_TRUE(table);
        ASSERT_TRUE(table->write_checkpoint({.partition = {3}, .sequence = {7}, .epoch = {2}}, {}));
    }
    ASSERT_TRUE(open()->execute(
        "DROP TABLE evenkeel_record; ALTER TABLE evenkeel_checkpoint DROP COLUMN enqueued_ms;"
        " UPDATE evenkeel_schema SET version = 1;"));

    const auto database = open();
    auto table = SqliteTable::open(*database, group);

    ASSERT_TRUE(table) << to_string(table.error());
    const auto checkpoints = table->checkpoints();
    ASSERT_EQ(checkpoints->size(), 1u);
    EXPECT_EQ(checkpoints->at(0).sequence, SequenceNumber{7});
    EXPECT_EQ(checkpoints->at(0).enqueued_ms, 0) << "not known";
    EXPECT_TRUE(table->write_record({"request/pause", "all"}));
    ASSERT_TRUE(table->write_checkpoint(
        {.partition = {3}, .sequence = {8}, .epoch = {2}, .enqueued_ms = 55}, {}));
    EXPECT_EQ(table->checkpoints()->at(0).enqueued_ms, 55);
}

TEST_F(SqliteSchema, of_version_1_gives_all_its_entries) {
    std::ifstream golden(test::data_path("sqlite_v1.sql"));
    ASSERT_TRUE(open()->execute(std::string(std::istreambuf_iterator(golden), {}).c_str()));

    const auto database = open();
    auto table = SqliteTable::open(*database, group);

    ASSERT_TRUE(table) << to_string(table.error());
    const auto members = table->members({clock.now(), clock.wall()});
    ASSERT_EQ(members->size(), 1U);
    EXPECT_EQ(members->at(0).incarnation, "run-7");
    EXPECT_EQ(members->at(0).state, MemberState::leaving);
    EXPECT_EQ(members->at(0).offers, (std::vector<Offer>{{{17}, "b"}}));
    const auto ownerships = table->ownerships({clock.now(), clock.wall()});
    ASSERT_EQ(ownerships->size(), 1U);
    EXPECT_EQ(ownerships->at(0).owner, "a");
    EXPECT_EQ(ownerships->at(0).epoch, Epoch{7});
    const auto checkpoints = table->checkpoints();
    ASSERT_EQ(checkpoints->size(), 1U);
    EXPECT_EQ(checkpoints->at(0).sequence, SequenceNumber{42});
    EXPECT_EQ(checkpoints->at(0).offset, "4294967296");
    EXPECT_EQ(checkpoints->at(0).attempts, 1U);
    const auto letters = table->dead_letters({});
    ASSERT_EQ(letters->size(), 1U);
    EXPECT_EQ(letters->at(0).cause, "bad event");
    EXPECT_EQ(letters->at(0).sections.size(), 6U);
}

}  // namespace
}  // namespace evenkeel::checkpoint
