// Exactly once into PostgreSQL: processors are killed and stopped, their hub and the database
// server go away; in the end the sink equals a replay of the log.
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "process/processor/exactly_once_fleet.h"
#include "process/processor/postgres_sink.h"
#include "support/postgres_server.h"

namespace evenkeel::test {
namespace {

int server_kills() {
    return std::getenv("EVENKEEL_LONG") != nullptr ? 60 : 24;
}

TEST(ExactlyOnceIntoPostgres, leaves_a_sink_that_equals_a_replay_of_the_log) {
    std::string why;
    const auto server = PostgresServer::start(why);
    if (!server) GTEST_SKIP() << why;
    Fleet<PostgresSink> fleet("exactly-once", server->url(), server->url());
    int restarts = 0;

    strike(fleet, server_kills(), [&] {
        if (fleet.killed() % 5 != 3) return;
        server->kill();
        ASSERT_TRUE(server->start_again());
        ++restarts;
    });

    fleet.finish();
    EXPECT_EQ(fleet.difference(), SinkDifference{});
    EXPECT_GE(fleet.faults() + restarts, 30);
    fleet.print_ledger();
    std::printf("and %d crashes of the database server\n", restarts);
}

}  // namespace
}  // namespace evenkeel::test
