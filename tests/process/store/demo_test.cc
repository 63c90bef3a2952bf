// `evenkeel demo` with its processors meeting on a server. Blob storage:
// tests/process/store/blob_demo_test.cc.
#include "support/demo_run.h"
#include "support/postgres_server.h"
#include "support/redis_server.h"

namespace evenkeel::fault {
namespace {

TEST(DemoStore, redis_shows_the_three_pictures) {
    std::string why;
    const auto redis = test::RedisServer::start(why);
    if (!redis) GTEST_SKIP() << why;
    expect_a_good_demo(redis->url(), 9);
}

TEST(DemoStore, postgresql_shows_the_three_pictures) {
    std::string why;
    const auto postgres = test::PostgresServer::start(why);
    if (!postgres) GTEST_SKIP() << why;
    expect_a_good_demo(postgres->url(), 9);
}

}  // namespace
}  // namespace evenkeel::fault
