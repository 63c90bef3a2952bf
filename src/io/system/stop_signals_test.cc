#include "io/system/stop_signals.h"

#include <chrono>

#include <signal.h>

#include <gtest/gtest.h>

namespace evenkeel::io::system {
namespace {

TEST(StopSignals, are_waited_for) {
    StopSignals signals;
    EXPECT_FALSE(signals.wait(std::chrono::milliseconds(1)));

    raise(SIGTERM);

    EXPECT_TRUE(signals.wait(std::chrono::seconds(10)));
    EXPECT_TRUE(signals.wait(std::chrono::seconds(0)));
}

TEST(StopSignals, have_their_usual_effect_after_the_first) {
    EXPECT_EXIT(
        {
            StopSignals signals;
            raise(SIGINT);
            signals.wait(std::chrono::seconds(10));
            raise(SIGINT);
        },
        testing::KilledBySignal(SIGINT), "");
}

}  // namespace
}  // namespace evenkeel::io::system
