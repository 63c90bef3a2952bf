// Commands that only look leave a store of any kind as it is, and say what an empty one says.
#include <filesystem>
#include <memory>

#include "checkpoint/blob/server_fixture.h"
#include "process/cli/dev_hub.h"
#include "support/postgres_server.h"
#include "support/redis_server.h"

namespace evenkeel::cli_tests {
namespace {

enum class Kind : unsigned char { sqlite, postgres, redis, blob };

class Looking : public CliTest, public testing::WithParamInterface<Kind> {
protected:
    static void SetUpTestSuite() {
        CliTest::SetUpTestSuite();
        ASSERT_EQ(evenkeel({"hub", "create", "looked-at", "--partitions", "2"}).exit_code, 0);
    }
    void SetUp() override {
        CliTest::SetUp();
        std::string why;
        switch (GetParam()) {
            case Kind::sqlite: store_ = "sqlite:" + file_; break;
            case Kind::postgres:
                postgres_ = test::PostgresServer::start(why);
                if (postgres_) store_ = postgres_->url();
                break;
            case Kind::redis:
                redis_ = test::RedisServer::start(why);
                if (redis_) store_ = redis_->url();
                break;
            case Kind::blob:
                blob_ = std::make_unique<checkpoint::BlobServer>();
                blob_->remove_container();
                store_ = "azblob:" + blob_->address() + ";Create=true";
                break;
        }
        if (store_.empty()) GTEST_SKIP() << why;
    }

    Outcome run(const std::vector<std::string>& command,
                const std::vector<std::string>& more = {}) {
        std::vector<std::string> words = command;
        words.insert(words.end(), {"looked-at", "--store", store_});
        words.insert(words.end(), more.begin(), more.end());
        return evenkeel(words);
    }
    // Something of ours is in the store.
    bool is_made() {
        switch (GetParam()) {
            case Kind::sqlite: return !std::filesystem::is_empty(folder_.path());
            case Kind::postgres:
                return !postgres_->run(
                    "SELECT 1 / (1 - count(*)::int) FROM pg_namespace WHERE nspname = 'evenkeel'");
            case Kind::redis: return redis_->answer({"DBSIZE"}) != "0\n";
            case Kind::blob: return blob_->has_container();
        }
        return true;
    }
    // A missing file is reported; anything else is a group that nobody has used.
    bool has_file_only() const { return GetParam() == Kind::sqlite; }

private:
    const test::TemporaryDirectory folder_;
    const std::string file_ = folder_.path() + "/progress.db";
    std::unique_ptr<test::PostgresServer> postgres_;
    std::unique_ptr<test::RedisServer> redis_;
    std::unique_ptr<checkpoint::BlobServer> blob_;
    std::string store_;
};

TEST_P(Looking, status_of_an_unknown_group_creates_nothing) {
    const auto table = run({"status"});
    const auto json = run({"status"}, {"-o", "json"});

    EXPECT_EQ(table.exit_code, 0) << table.errors;
    EXPECT_TRUE(has(table.output, "PARTITION")) << table.output;
    EXPECT_TRUE(has(table.errors, "no processor has used it yet")) << table.errors;
    EXPECT_EQ(json.exit_code, 0) << json.errors;
    EXPECT_TRUE(has(json.output, "\"position\": -1")) << json.output;
    EXPECT_FALSE(is_made());
}

TEST_P(Looking, listing_an_unknown_group_creates_nothing) {
    for (const auto& command : std::vector<std::vector<std::string>>{{"processor", "ls"},
                                                                     {"processor", "history"},
                                                                     {"checkpoint", "ls"},
                                                                     {"checkpoint", "export"},
                                                                     {"deadletter", "ls"},
                                                                     {"deadletter", "export"}}) {
        const auto outcome = run(command);
        const std::string shown = command.at(0) + " " + command.at(1) + ": " + outcome.errors;
        EXPECT_EQ(outcome.exit_code, has_file_only() ? 3 : 0) << shown;
        EXPECT_EQ(has(outcome.errors, "progress.db'; the first processor"), has_file_only())
            << shown;
        EXPECT_FALSE(is_made()) << shown;
    }
}

TEST_P(Looking, commands_without_an_effect_create_nothing) {
    const test::TemporaryDirectory folder;
    const std::string copy = folder.path() + "/copy.db";
    const int done = has_file_only() ? 3 : 0;

    const auto resumed = run({"processor", "resume"});
    const auto drained = run({"processor", "drain"}, {"worker-1"});
    const auto rewound = run({"checkpoint", "rewind"}, {"--by", "3"});
    const auto set = run({"checkpoint", "set"}, {"--to", "start"});
    const auto copied = run({"checkpoint", "copy"}, {"--to", "sqlite:" + copy});

    EXPECT_EQ(resumed.exit_code, done) << resumed.errors;
    EXPECT_EQ(resumed.output, has_file_only() ? "" : "nothing is paused\n");
    EXPECT_EQ(drained.exit_code, 3) << drained.errors;
    EXPECT_EQ(has(drained.errors, "no such instance is running"), !has_file_only())
        << drained.errors;
    EXPECT_EQ(rewound.exit_code, done) << rewound.errors;
    EXPECT_EQ(set.exit_code, 3) << set.errors;
    EXPECT_EQ(has(set.errors, "--partition"), !has_file_only()) << set.errors;
    EXPECT_EQ(copied.exit_code, done) << copied.errors;
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
    EXPECT_FALSE(is_made());
}

class Setting : public Looking {};

TEST_P(Setting, creates_a_group_with_the_named_partitions) {
    ASSERT_EQ(evenkeel({"send", "looked-at", "-p", "1", "event", "--count", "7"}).exit_code, 0);
    const auto set = run({"checkpoint", "set"}, {"--to", "seq:7", "--partition", "1"});
    const auto listed = run({"checkpoint", "ls"}, {"-o", "json"});

    EXPECT_EQ(set.exit_code, 0) << set.errors;
    EXPECT_TRUE(is_made());
    EXPECT_TRUE(has(listed.output, R"("partition":1,"sequence":6)")) << listed.output;
    EXPECT_FALSE(has(run({"status"}).errors, "no processor has used it yet"));
}

INSTANTIATE_TEST_SUITE_P(Stores, Looking,
                         testing::Values(Kind::sqlite, Kind::postgres, Kind::redis, Kind::blob));
// A file is made by a processor only.
INSTANTIATE_TEST_SUITE_P(Stores, Setting, testing::Values(Kind::postgres, Kind::redis, Kind::blob));

}  // namespace
}  // namespace evenkeel::cli_tests
