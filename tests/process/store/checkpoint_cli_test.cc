// `evenkeel checkpoint` as its users meet it, on a store's real file.
#include <memory>
#include <vector>

#include "base/clock.h"
#include "checkpoint/sqlite/database.h"
#include "checkpoint/sqlite/table.h"
#include "support/paths.h"
#include "support/process.h"
#include "support/temporary_directory.h"

namespace evenkeel::fault {
namespace {

using checkpoint::Checkpoint;
using checkpoint::Database;
using checkpoint::SqliteTable;

struct CheckpointCommand : testing::Test {
    CheckpointCommand() {
        for (std::uint32_t p = 0; p < 2; ++p) {
            EXPECT_TRUE(table.write_checkpoint({.partition = {p},
                                                .sequence = {1000 + p},
                                                .offset = "77",
                                                .epoch = {3},
                                                .attempts = 2},
                                               now()));
        }
    }
    checkpoint::Moment now() { return {clock.now(), clock.wall()}; }
    Outcome run(std::vector<std::string> arguments, const std::string& name = "progress.db") {
        std::vector<std::string> command = {test::evenkeel_program(),
                                            "checkpoint",
                                            arguments.at(0),
                                            "homes",
                                            "--store",
                                            "sqlite:" + directory.path() + "/" + name,
                                            "--namespace",
                                            "localhost"};
        command.insert(command.end(), arguments.begin() + 1, arguments.end());
        return run_to_end(command);
    }
    Checkpoint stored(std::uint32_t partition) { return table.checkpoints()->at(partition); }
    void own(std::uint32_t partition) {
        ASSERT_TRUE(table.write_member({.id = "worker-a", .incarnation = "1"}, now()));
        ASSERT_TRUE(table.write_ownership(
            {.partition = {partition}, .owner = "worker-a", .epoch = {3}}, now()));
    }
    static bool has(const std::string& text, const std::string& part) {
        return text.find(part) != std::string::npos;
    }

    const SystemClock clock{};
    const test::TemporaryDirectory directory;
    std::unique_ptr<Database> database = *Database::open(directory.path() + "/progress.db", clock,
                                                         clock.now() + std::chrono::seconds(60));
    SqliteTable table = *SqliteTable::open(*database, {"localhost", "homes", "$Default"});
};

TEST_F(CheckpointCommand, lists_positions_and_owners) {
    own(1);

    const auto text = run({"ls"});
    const auto json = run({"ls", "-o", "json", "--partition", "1"});

    EXPECT_EQ(text.exit_code, 0) << text.errors;
    EXPECT_TRUE(has(text.output, "worker-a")) << text.output;
    EXPECT_TRUE(has(text.output, "1000")) << text.output;
    EXPECT_TRUE(has(json.output, R"("partition":1,"sequence":1001)")) << json.output;
    EXPECT_TRUE(has(json.output, R"("is_owned":true)")) << json.output;
    EXPECT_FALSE(has(json.output, R"("partition":0)")) << json.output;
}

TEST_F(CheckpointCommand, sets_what_is_handled_next) {
    const auto outcome = run({"set", "--to", "seq:500", "--partition", "1"});

    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    EXPECT_EQ(stored(1).sequence, SequenceNumber{499});
    EXPECT_EQ(stored(1).attempts, 0u);
    EXPECT_EQ(stored(1).offset, "");
    EXPECT_EQ(stored(0).sequence, SequenceNumber{1000});
    EXPECT_EQ(run({"set", "--to", "start"}).exit_code, 0);
    EXPECT_EQ(stored(0).sequence, SequenceNumber{-1});
}

TEST_F(CheckpointCommand, a_dry_run_says_what_it_would_do_and_does_not) {
    const auto outcome = run({"rewind", "--by", "10", "--dry-run"});

    EXPECT_EQ(outcome.exit_code, 10) << outcome.errors;
    EXPECT_TRUE(has(outcome.output, "partition 0: 1000 -> 990 (10 events again)"))
        << outcome.output;
    EXPECT_EQ(stored(0).sequence, SequenceNumber{1000});
    EXPECT_EQ(run({"rewind", "--by", "10"}).exit_code, 0);
    EXPECT_EQ(stored(0).sequence, SequenceNumber{990});
    EXPECT_EQ(stored(1).sequence, SequenceNumber{991});
}

TEST_F(CheckpointCommand, refuses_what_is_owned_and_changes_nothing) {
    own(1);

    const auto outcome = run({"rewind", "--by", "10"});

    EXPECT_EQ(outcome.exit_code, 6);
    EXPECT_TRUE(has(outcome.errors, "partition 1 is owned by 'worker-a'")) << outcome.errors;
    EXPECT_EQ(stored(0).sequence, SequenceNumber{1000});
}

TEST_F(CheckpointCommand, forced_it_fences_the_owner) {
    own(1);

    const auto outcome = run({"set", "--to", "seq:10", "--force"});

    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    const auto owner = table.ownerships(now())->at(0);
    EXPECT_EQ(owner.owner, "");
    EXPECT_EQ(owner.epoch, Epoch{4});
    EXPECT_EQ(stored(1).sequence, SequenceNumber{9});
    const auto stale =
        table.write_checkpoint({.partition = {1}, .sequence = {1002}, .epoch = {3}}, now());
    ASSERT_FALSE(stale);
    EXPECT_EQ(stale.error().code, ErrorCode::fenced);
}

TEST_F(CheckpointCommand, exports_what_it_can_import_and_copies_to_groups_and_files) {
    const auto exported = run({"export"});
    ASSERT_EQ(exported.exit_code, 0) << exported.errors;
    const std::string file = directory.path() + "/progress.ndjson";
    std::FILE* out = std::fopen(file.c_str(), "w");
    std::fputs(exported.output.c_str(), out);
    std::fclose(out);
    ASSERT_EQ(run({"set", "--to", "start"}).exit_code, 0);

    const auto imported = run({"import", "--file", file});
    const auto grouped = run({"copy", "--to-group", "Other"});
    const auto copied = run({"copy", "--to", "sqlite:" + directory.path() + "/copy.db"});

    EXPECT_EQ(imported.exit_code, 0) << imported.errors;
    EXPECT_EQ(stored(0).sequence, SequenceNumber{1000});
    EXPECT_EQ(stored(0).offset, "77");
    EXPECT_EQ(grouped.exit_code, 0) << grouped.errors;
    EXPECT_TRUE(has(run({"ls", "--group", "other", "-o", "json"}).output, R"("sequence":1001)"));
    EXPECT_EQ(copied.exit_code, 0) << copied.errors;
    EXPECT_TRUE(has(run({"export"}, "copy.db").output, R"("sequence":1001)"));
}

TEST_F(CheckpointCommand, says_what_is_wrong) {
    EXPECT_EQ(run({"ls"}, "mistyped.db").exit_code, 3);
    EXPECT_EQ(run({"set", "--to", "yesterday"}).exit_code, 2);
    EXPECT_EQ(run({"rewind", "--by", "0"}).exit_code, 2);
    EXPECT_EQ(run({"copy"}).exit_code, 2);
    EXPECT_EQ(run({"import", "--file", directory.path() + "/progress.db"}).exit_code, 2);
    const auto unknown =
        run_to_end({test::evenkeel_program(), "checkpoint", "ls", "homes", "--store",
                    "mysql://a:secret@b/c", "--namespace", "localhost"});
    EXPECT_NE(unknown.exit_code, 0);
    EXPECT_TRUE(has(unknown.errors, "sqlite:FILE")) << unknown.errors;
    EXPECT_FALSE(has(unknown.errors, "secret")) << unknown.errors;
}

}  // namespace
}  // namespace evenkeel::fault
