// `evenkeel checkpoint import --from redis://...`: the checkpoints of Java's Jedis store, as it
// writes them.
#include <memory>
#include <string>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>

#include "support/paths.h"
#include "support/postgres_server.h"
#include "support/process.h"
#include "support/redis_server.h"
#include "support/temporary_directory.h"

namespace evenkeel::fault {
namespace {

struct RedisImport : testing::Test {
    void SetUp() override {
        std::string why;
        redis = test::RedisServer::start(why);
        if (!redis) GTEST_SKIP() << why;
    }
    void set(const std::string& key, const std::string& field, const std::string& value) const {
        ASSERT_TRUE(redis->run({"HSET", key, field, value}));
    }
    // As the Java SDK writes it.
    void put(const std::string& group, int partition, long long offset, long long sequence) const {
        const std::string key = fmt::format("myns.example.net/homes/{}/{}", group, partition);
        set(key, "checkpoint",
            fmt::format(R"({{"fullyQualifiedNamespace":"myns.example.net","eventHubName":"homes",)"
                        R"("consumerGroup":"{}","partitionId":"{}","offset":{},)"
                        R"("offsetString":"{}","sequenceNumber":{}}})",
                        group, partition, offset, offset, sequence));
        ASSERT_TRUE(redis->run({"SADD", "myns.example.net/homes/" + group, key}));
    }
    void own(const std::string& owner, long long modified_ms) const {
        set("myns.example.net/homes/$default/0", "partitionOwnership",
            fmt::format(R"({{"fullyQualifiedNamespace":"myns.example.net","eventHubName":"homes",)"
                        R"("consumerGroup":"$default","partitionId":"0","ownerId":"{}",)"
                        R"("lastModifiedTime":{},"eTag":""}})",
                        owner, modified_ms));
    }
    std::string url() const { return redis->url(); }
    Outcome run(const std::string& what, std::vector<std::string> more) const {
        std::vector<std::string> command = {
            test::evenkeel_program(), "checkpoint", what, "homes", "--namespace",
            "MyNs.example.net"};
        command.insert(command.end(), more.begin(), more.end());
        return run_to_end(command);
    }
    Outcome import(std::vector<std::string> more = {}) const {
        more.insert(more.end(), {"--from", url(), "--to", "sqlite:" + file()});
        return run("import", more);
    }
    std::string exported() const { return run("export", {"--store", "sqlite:" + file()}).output; }
    std::string file() const { return folder.path() + "/to.db"; }
    static bool has(const std::string& text, const std::string& part) {
        return text.find(part) != std::string::npos;
    }

    const test::TemporaryDirectory folder;
    std::unique_ptr<test::RedisServer> redis;
};

TEST_F(RedisImport, takes_what_the_jedis_store_has) {
    put("$default", 0, 700, 41);
    put("$default", 1, 800, 9'007'199'254'740'993);
    own("worker-7", 1'700'000'000'000);  // long gone
    const std::string before = redis->answer({"DBSIZE"});

    const auto planned = import({"--dry-run"});
    const bool is_made = access(file().c_str(), F_OK) == 0;
    const auto done = import();

    EXPECT_EQ(planned.exit_code, 10) << planned.errors;
    EXPECT_FALSE(is_made) << "a dry run makes no store";
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    EXPECT_TRUE(has(done.output, "2 checkpoints in the layout 'jedis'")) << done.output;
    EXPECT_TRUE(has(exported(), R"("partition":0,"sequence":41,"offset":"700")")) << exported();
    EXPECT_TRUE(has(exported(), R"("sequence":9007199254740993,"offset":"800")")) << exported();
    EXPECT_EQ(redis->answer({"DBSIZE"}), before) << "it only looks";
}

TEST_F(RedisImport, leaves_nothing_behind_by_a_dry_run) {
    put("$default", 0, 700, 41);
    std::string why;
    const auto postgres = test::PostgresServer::start(why);
    if (!postgres) GTEST_SKIP() << why;
    ASSERT_EQ(import().exit_code, 0);
    const std::string before = redis->answer({"DBSIZE"});

    for (const std::string& to : {url(), postgres->url()}) {
        const auto imported = run("import", {"--dry-run", "--from", url(), "--to", to});
        EXPECT_EQ(imported.exit_code, 10) << imported.errors;
        EXPECT_TRUE(has(imported.output, "partition 0: -1 -> 41")) << imported.output;
        const auto copied = run("copy", {"--dry-run", "--store", "sqlite:" + file(), "--to", to});
        EXPECT_EQ(copied.exit_code, 10) << copied.errors;
        EXPECT_TRUE(has(copied.output, "partition 0: -1 -> 41")) << copied.output;
    }

    EXPECT_EQ(redis->answer({"DBSIZE"}), before);
    EXPECT_TRUE(postgres->run("CREATE SCHEMA evenkeel")) << "there is one already";
}

TEST_F(RedisImport, names_records_that_it_cannot_use) {
    put("$default", 0, 700, 41);
    set("myns.example.net/homes/$default/1", "checkpoint", R"({"partitionId":"1","offs)");
    set("myns.example.net/homes/$default/2", "checkpoint", R"({"colour":"red"})");
    ASSERT_TRUE(redis->run({"SET", "myns.example.net/homes/$default/3", "x"}));

    const auto refused = import();

    EXPECT_EQ(refused.exit_code, 1) << refused.output;
    for (const char* name : {"$default/1'", "$default/2'", "$default/3'"}) {
        EXPECT_TRUE(has(refused.errors, name)) << refused.errors;
    }
    EXPECT_FALSE(has(refused.errors, "$default/0'")) << refused.errors;
    EXPECT_NE(access(file().c_str(), F_OK), 0);
    EXPECT_EQ(import({"--partition", "0"}).exit_code, 0);
}

TEST_F(RedisImport, names_groups_that_differ_only_by_case) {
    put("$default", 0, 700, 41);
    put("$Default", 0, 900, 43);

    const auto refused = import();
    const auto chosen = import({"--path", "myns.example.net/homes/$Default/"});

    EXPECT_EQ(refused.exit_code, 6) << refused.output;
    EXPECT_TRUE(has(refused.errors, "'myns.example.net/homes/$default/'")) << refused.errors;
    EXPECT_TRUE(has(refused.errors, "'myns.example.net/homes/$Default/'")) << refused.errors;
    EXPECT_EQ(chosen.exit_code, 0) << chosen.errors;
    EXPECT_TRUE(has(exported(), R"("sequence":43)")) << exported();
}

TEST_F(RedisImport, leaves_processors_at_work_alone) {
    put("$default", 0, 700, 41);
    own("worker-7", std::stoll(redis->answer({"TIME"})) * 1000);

    const auto refused = import();

    EXPECT_EQ(refused.exit_code, 6) << refused.output;
    EXPECT_TRUE(has(refused.errors, "worker-7")) << refused.errors;
    EXPECT_EQ(import({"--force"}).exit_code, 0);
}

TEST_F(RedisImport, says_what_is_wrong_with_an_address) {
    const auto nothing = import();
    EXPECT_EQ(nothing.exit_code, 3) << nothing.errors;
    std::string why;
    const auto closed = test::RedisServer::start(why, {"--requirepass", "right"});
    ASSERT_TRUE(closed) << why;
    const auto locked =
        run("import", {"--to", "sqlite:" + file(), "--from",
                       "redis://:wrong@127.0.0.1:" + std::to_string(closed->port())});
    EXPECT_EQ(locked.exit_code, 4) << locked.errors;
    EXPECT_FALSE(has(locked.errors, "wrong@")) << locked.errors;
    EXPECT_NE(access(file().c_str(), F_OK), 0);
}

}  // namespace
}  // namespace evenkeel::fault
