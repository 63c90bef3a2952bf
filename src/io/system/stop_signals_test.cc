#include "io/system/stop_signals.h"

#include <chrono>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

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

TEST(StopSignals, waiting_can_be_ended_without_a_signal) {
    StopSignals signals;

    signals.wake();

    EXPECT_TRUE(signals.wait(std::chrono::seconds(10)));
}

TEST(StopSignals, ask_all_who_wait) {
    StopSignals first;
    StopSignals second;
    {
        StopSignals third;
        third.wake();
        EXPECT_TRUE(third.wait(std::chrono::seconds(10)));
    }
    EXPECT_FALSE(first.wait(std::chrono::milliseconds(1))) << "only the third one was woken";

    raise(SIGTERM);

    EXPECT_TRUE(first.wait(std::chrono::seconds(10)));
    EXPECT_TRUE(second.wait(std::chrono::seconds(10)));
    EXPECT_TRUE(StopSignals().wait(std::chrono::seconds(10))) << "the process was asked to stop";
}

volatile sig_atomic_t own_calls = 0;

TEST(StopSignals, leave_the_handlers_of_the_program_behind) {
    const auto before = signal(SIGTERM, [](int) { own_calls = own_calls + 1; });
    {
        StopSignals first;
        {
            StopSignals second;
            raise(SIGTERM);
            EXPECT_TRUE(second.wait(std::chrono::seconds(10)));
        }
        EXPECT_EQ(own_calls, 0);
    }

    raise(SIGTERM);

    EXPECT_EQ(own_calls, 1);
    StopSignals later;
    EXPECT_FALSE(later.wait(std::chrono::milliseconds(1))) << "the signal of before is over";
    signal(SIGTERM, before);
}

TEST(StopSignals, keep_a_handler_that_was_set_meanwhile) {
    const auto before = signal(SIGTERM, SIG_DFL);
    {
        const StopSignals signals;
        signal(SIGTERM, SIG_IGN);
    }

    EXPECT_EQ(signal(SIGTERM, before), SIG_IGN);
}

TEST(StopSignals, end_the_process_when_they_come_again_later) {
    EXPECT_EXIT(
        {
            StopSignals signals;
            raise(SIGINT);
            signals.wait(std::chrono::seconds(10));
            const SystemClock clock;
            const Instant given_up = clock.now() + std::chrono::seconds(60);
            while (clock.now() < given_up) raise(SIGINT);
        },
        testing::KilledBySignal(SIGINT), "");
}

// How a process ends that gets signals one right behind the other.
int end_of_two_wishes() {
    const pid_t child = fork();
    if (child == 0) {
        StopSignals signals;
        raise(SIGTERM);
        signals.wait(std::chrono::seconds(10));
        raise(SIGTERM);
        raise(SIGINT);
        _exit(7);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return status;
}

TEST(StopSignals, are_one_wish_when_they_come_together) {
    // A machine that is busy may put any distance between them, though not each time.
    int status = 0;
    for (int attempt = 0; attempt < 20 && status == 0; ++attempt) {
        status = end_of_two_wishes();
        if (!WIFEXITED(status)) status = 0;
    }

    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
}

}  // namespace
}  // namespace evenkeel::io::system
