// The Redis server that the tests of one program share.
#pragma once

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "support/redis_server.h"

namespace evenkeel::checkpoint {

// Started at the first call; null where there is none, then `why` says so.
inline test::RedisServer* shared_redis(std::string& why) {
    static std::string why_not;
    static const std::unique_ptr<test::RedisServer> server = test::RedisServer::start(why_not);
    why = why_not;
    return server.get();
}

// A test with an empty server.
struct WithRedis : testing::Test {
    void SetUp() override {
        std::string why;
        server = shared_redis(why);
        if (server == nullptr) GTEST_SKIP() << why;
        ASSERT_TRUE(server->run({"FLUSHALL"}));
    }
    test::RedisServer* server = nullptr;
};

}  // namespace evenkeel::checkpoint
