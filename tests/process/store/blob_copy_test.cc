// Progress that is copied from store to store by the command, all the way round.
#include <cstdio>

#include "process/store/blob_command_fixture.h"
#include "support/postgres_server.h"
#include "support/redis_server.h"

namespace evenkeel::test {
namespace {

TEST_P(BlobCommand, copies_progress_through_every_kind_of_store) {
    std::string why;
    const auto postgres = PostgresServer::start(why);
    if (!postgres) GTEST_SKIP() << why;
    const auto redis = RedisServer::start(why);
    if (!redis) GTEST_SKIP() << why;
    const std::string lines = file("positions.ndjson");
    std::FILE* const out = std::fopen(lines.c_str(), "w");  // tidy: allow file: a test's input
    for (int p = 0; p < 5; ++p) {
        std::fprintf(out,
                     R"({"partition":%d,"sequence":%lld,"offset":"%d"})"
                     "\n",
                     p, p == 3 ? 9'007'199'254'740'993LL : 1000LL + p, p * 7);
    }
    std::fclose(out);
    std::fclose(std::fopen(file("first.db").c_str(), "w"));  // tidy: allow file: it must be there
    const auto imported = run("import", {"--file", lines, "--store", sqlite("first.db")});
    ASSERT_EQ(imported.exit_code, 0) << imported.errors;
    const std::string expected = "0:1000:0 1:1001:7 2:1002:14 3:9007199254740993:21 4:1004:28";
    ASSERT_EQ(positions(sqlite("first.db")), expected);

    const std::vector<std::string> way = {sqlite("first.db"), postgres->url(), redis->url(5),
                                          container(), sqlite("last.db")};
    for (std::size_t i = 1; i < way.size(); ++i) {
        const auto copied = run("copy", {"--store", way[i - 1], "--to", way[i]});
        ASSERT_EQ(copied.exit_code, 0) << copied.errors;
        EXPECT_EQ(positions(way[i]), expected) << "step " << i;
    }
}

}  // namespace
}  // namespace evenkeel::test
