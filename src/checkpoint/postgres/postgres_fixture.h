// The PostgreSQL server that the tests of one program share, and a store on it.
#pragma once

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "support/postgres_server.h"

namespace evenkeel::checkpoint {

// Started at the first call; null where there is none, then `why` says so.
inline test::PostgresServer* shared_postgres(std::string& why) {
    static std::string why_not;
    static const std::unique_ptr<test::PostgresServer> server =
        test::PostgresServer::start(why_not);
    why = why_not;
    return server.get();
}

// A test with an empty database.
struct WithPostgres : testing::Test {
    void SetUp() override {
        std::string why;
        server = shared_postgres(why);
        if (server == nullptr) GTEST_SKIP() << why;
        ASSERT_TRUE(server->run("DROP SCHEMA IF EXISTS evenkeel CASCADE"));
    }
    test::PostgresServer* server = nullptr;
};

}  // namespace evenkeel::checkpoint
