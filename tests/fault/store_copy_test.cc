// Progress that is copied from store to store by the command, all the way round.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fault/process.h"
#include "support/postgres_server.h"
#include "support/redis_server.h"
#include "support/temporary_directory.h"

namespace evenkeel::fault {
namespace {

Outcome run(const std::string& what, const std::string& store,
            const std::vector<std::string>& more = {}) {
    std::vector<std::string> command = {EVENKEEL_PROGRAM, "checkpoint", what,          "homes",
                                        "--store",        store,        "--namespace", "localhost"};
    command.insert(command.end(), more.begin(), more.end());
    return run_to_end(command);
}

// Positions only: each store has its own times of writing.
std::vector<std::string> positions(const std::string& store) {
    const Outcome exported = run("export", store);
    EXPECT_EQ(exported.exit_code, 0) << exported.errors;
    std::vector<std::string> found;
    std::size_t at = 0;
    while ((at = exported.output.find("\"partition\"", at)) != std::string::npos) {
        const std::size_t end = exported.output.find("\"epoch\"", at);
        found.push_back(exported.output.substr(at, end - at));
        at = end;
    }
    return found;
}

TEST(StoreCopy, from_sqlite_to_postgresql_to_redis_and_back_keeps_every_position) {
    std::string why;
    const auto postgres = test::PostgresServer::start(why);
    if (!postgres) GTEST_SKIP() << why;
    const auto redis = test::RedisServer::start(why);
    if (!redis) GTEST_SKIP() << why;
    const test::TemporaryDirectory folder;
    const std::string first = "sqlite:" + folder.path() + "/first.db";
    const std::string file = folder.path() + "/positions.ndjson";
    std::string text;
    for (int p = 0; p < 5; ++p) {
        text += R"({"partition":)" + std::to_string(p) + R"(,"sequence":)" +
                std::to_string(p == 3 ? 9'007'199'254'740'993 : 1000 + p) + R"(,"offset":")" +
                std::to_string(p * 7) + "\"}\n";
    }
    ASSERT_EQ(run_to_end({"/bin/sh", "-c",
                          "printf '%s' '" + text + "' > " + file + " && : > " + folder.path() +
                              "/first.db"})
                  .exit_code,
              0);
    const Outcome imported = run("import", first, {"--file", file});
    ASSERT_EQ(imported.exit_code, 0) << imported.errors;
    const auto expected = positions(first);
    ASSERT_EQ(expected.size(), 5u);

    const std::vector<std::string> way = {first, postgres->url(), redis->url(5),
                                          "sqlite:" + folder.path() + "/last.db"};
    for (std::size_t i = 1; i < way.size(); ++i) {
        const Outcome copied = run("copy", way[i - 1], {"--to", way[i]});
        ASSERT_EQ(copied.exit_code, 0) << copied.errors;
        EXPECT_EQ(positions(way[i]), expected) << way[i];
    }
}

}  // namespace
}  // namespace evenkeel::fault
