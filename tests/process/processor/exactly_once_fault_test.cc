// Exactly once into SQLite, with processors in processes of their own that are killed in the middle
// of what they do, stopped for longer than their leases, and whose hub goes away: in the end the
// sink equals a replay of the log.
#include <cstdio>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "process/processor/exactly_once_fleet.h"
#include "support/temporary_directory.h"

namespace evenkeel::test {
namespace {

int kills() {
    return std::getenv("EVENKEEL_LONG") != nullptr ? 600 : 30;
}

constexpr int canary_kills_max = 100;

TEST(ExactlyOnceFaults, leave_a_sink_that_equals_a_replay_of_the_log) {
    const TemporaryDirectory folder;
    const std::string file = folder.path() + "/progress.db";
    Fleet<ExactlyOnceSink> fleet("exactly-once", "sqlite:" + file, file);

    strike(fleet, kills(), [] {});

    fleet.finish();
    EXPECT_EQ(fleet.difference(), SinkDifference{});
    fleet.print_ledger();
}

// The canary: without the transaction the same faults must show. It is killed until it has done
// what it is here for, which the sink tells by numbers; the comparison must find just that.
TEST(ExactlyOnceFaults, show_in_a_sink_that_is_written_beside_the_transaction) {
    const TemporaryDirectory folder;
    const std::string file = folder.path() + "/progress.db";
    Fleet<ExactlyOnceSink> fleet("at-least-once", "sqlite:" + file, file);

    do strike(fleet, 5, [] {});
    while (fleet.surplus() == 0 && fleet.killed() < canary_kills_max && !HasFatalFailure());

    fleet.finish();
    ASSERT_GT(fleet.surplus(), 0) << "nothing was repeated in " << fleet.killed() << " kills";
    const SinkDifference difference = fleet.difference();
    EXPECT_EQ(difference.repeated, static_cast<std::size_t>(fleet.surplus()))
        << describe(difference) << ": the comparison with the log is blind";
    EXPECT_EQ(difference.missing, 0u);
    std::printf("caught: %s\n", describe(difference).c_str());
}

}  // namespace
}  // namespace evenkeel::test
