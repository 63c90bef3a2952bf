// Exactly once into SQLite, with processors in processes of their own that are killed in the middle
// of what they do, stopped for longer than their leases, and whose hub goes away: in the end the
// sink equals a replay of the log.
#include <cstdio>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "processor/exactly_once_fleet.h"
#include "support/temporary_directory.h"

namespace evenkeel::test {
namespace {

int kills() {
    return std::getenv("EVENKEEL_LONG") != nullptr ? 600 : 30;
}

TEST(ExactlyOnceFaults, leave_a_sink_that_equals_a_replay_of_the_log) {
    const TemporaryDirectory folder;
    const std::string file = folder.path() + "/progress.db";
    Fleet<ExactlyOnceSink> fleet("exactly-once", "sqlite:" + file, file);

    strike(fleet, kills(), [] {});

    fleet.finish();
    EXPECT_EQ(fleet.difference(), "");
    fleet.print_ledger();
}

// The canary: without the transaction the same faults must show.
TEST(ExactlyOnceFaults, show_in_a_sink_that_is_written_beside_the_transaction) {
    const TemporaryDirectory folder;
    const std::string file = folder.path() + "/progress.db";
    Fleet<ExactlyOnceSink> fleet("at-least-once", "sqlite:" + file, file);

    strike(fleet, 5, [] {});

    fleet.finish();
    const std::string difference = fleet.difference();
    EXPECT_NE(difference.find("repeated"), std::string::npos)
        << difference << "the comparison with the log is blind";
    std::printf("caught: %s\n", difference.c_str());
}

}  // namespace
}  // namespace evenkeel::test
