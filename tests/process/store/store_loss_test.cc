// A checkpoint store that is emptied or replaced under running processors.
#include <filesystem>
#include <string>
#include <vector>

#include <signal.h>

#include <gtest/gtest.h>

#include "support/dev_server.h"
#include "support/paths.h"
#include "support/redis_server.h"
#include "support/temporary_directory.h"

namespace evenkeel::fault {
namespace {

namespace fs = std::filesystem;

class StoreLoss : public testing::Test {
protected:
    static Outcome evenkeel(std::vector<std::string> words) {
        words.insert(words.begin(), test::evenkeel_program());
        return run_to_end(words);
    }
    void SetUp() override {
        server_.make_default();
        ASSERT_EQ(evenkeel({"hub", "create", "homes", "--partitions", "1"}).exit_code, 0);
        ASSERT_EQ(evenkeel({"send", "homes", "-q", "a", "b", "c"}).exit_code, 0);
    }
    std::vector<std::string> process(const std::string& store) const {
        return {test::evenkeel_program(),
                "process",
                "homes",
                "--store",
                store,
                "--profile",
                "fast",
                "--exec",
                "cat >> '" + path("handled") + "'",
                "--checkpoint-every",
                "1"};
    }
    bool is_all_handled(const std::string& store) const {
        return eventually([&] {
            const auto told = evenkeel({"status", "homes", "--store", store, "-o", "json"});
            return has(told.output, "\"lag_events\": 0") && !has(told.output, "\"position\": -1");
        });
    }
    static bool has_members(std::size_t count, const std::string& store) {
        return eventually([&] {
            const auto told = evenkeel({"status", "homes", "--store", store});
            return has(told.errors, std::to_string(count) + " members");
        });
    }
    std::uintmax_t handled_bytes() const { return fs::file_size(path("handled")); }
    std::string path(const std::string& file) const { return folder_.path() + "/" + file; }

    test::TemporaryDirectory folder_;
    const DevServer server_{folder_.path() + "/data"};
};

TEST_F(StoreLoss, of_a_flushed_redis_stops_the_group_until_accepted) {
    std::string why;
    const auto redis = test::RedisServer::start(why);
    if (!redis) GTEST_SKIP() << why;
    Process running(process(redis->url()));
    Process waiting(process(redis->url()));
    ASSERT_TRUE(is_all_handled(redis->url()));
    ASSERT_TRUE(has_members(2, redis->url()));
    const auto handled = handled_bytes();

    ASSERT_TRUE(redis->run({"FLUSHALL"}));
    for (Process* each : {&running, &waiting}) {
        const std::string told = each->rest_of_errors();
        EXPECT_NE(each->wait().code, 0);
        EXPECT_TRUE(has(told, "the checkpoint store")) << told;
        EXPECT_TRUE(has(told, "--accept-store-loss")) << told;
    }

    EXPECT_EQ(handled_bytes(), handled) << "nothing is handled again";
    const auto refused = run_to_end(process(redis->url()));
    EXPECT_NE(refused.exit_code, 0);
    EXPECT_TRUE(has(refused.errors, "--accept-store-loss")) << refused.errors;
    const auto status = evenkeel({"status", "homes", "--store", redis->url()});
    EXPECT_TRUE(has(status.errors, "--accept-store-loss")) << status.errors;

    auto command = process(redis->url());
    command.push_back("--accept-store-loss");
    ASSERT_EQ(evenkeel({"send", "homes", "-q", "d"}).exit_code, 0);
    server_.make_default("127.0.0.1");  // its entries are found by another name too
    Process again(command);
    ASSERT_TRUE(is_all_handled(redis->url()));
    again.signal(SIGINT);
    again.wait();
    EXPECT_LE(handled_bytes() - handled, handled / 2) << "only the last of four events";
}

TEST_F(StoreLoss, of_a_replaced_sqlite_file_stops_the_processor) {
    const std::string store = "sqlite:" + path("progress.db");
    {
        Process running(process(store));
        ASSERT_TRUE(is_all_handled(store));
        running.signal(SIGINT);
        running.wait();
    }
    fs::copy(path("progress.db"), path("older.db"));
    ASSERT_EQ(evenkeel({"send", "homes", "-q", "d", "e"}).exit_code, 0);
    Process running(process(store));
    ASSERT_TRUE(is_all_handled(store));
    const auto handled = handled_bytes();

    fs::rename(path("older.db"), path("progress.db"));
    const std::string told = running.rest_of_errors();
    EXPECT_NE(running.wait().code, 0);

    EXPECT_TRUE(has(told, "the file was removed or replaced")) << told;
    EXPECT_EQ(handled_bytes(), handled) << "nothing is handled again";
}

}  // namespace
}  // namespace evenkeel::fault
