#include "io/timer.h"

#include <chrono>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "io/sim/scheduler.h"
#include "support/seed.h"

namespace evenkeel::io {
namespace {

using namespace std::chrono_literals;

class TimerTest : public testing::Test {
protected:
    sim::Scheduler scheduler{test::test_seed()};
    sim::SimLoop loop{scheduler, "loop"};
    std::vector<int> calls;
};

TEST_F(TimerTest, calls_once_when_its_time_has_come) {
    Timer timer(loop);
    timer.run_after(2s, [&] { calls.push_back(1); });
    EXPECT_TRUE(timer.is_pending());

    scheduler.run_for(1s);
    EXPECT_TRUE(calls.empty());
    scheduler.run_for(10s);

    EXPECT_EQ(calls, std::vector<int>{1});
    EXPECT_FALSE(timer.is_pending());
}

TEST_F(TimerTest, replaces_a_call_that_is_pending) {
    Timer timer(loop);
    timer.run_after(1s, [&] { calls.push_back(1); });
    timer.run_at(loop.clock().now() + 2s, [&] { calls.push_back(2); });

    scheduler.run_for(10s);

    EXPECT_EQ(calls, std::vector<int>{2});
}

TEST_F(TimerTest, does_not_call_once_it_is_cancelled_or_gone) {
    Timer cancelled(loop);
    auto gone = std::make_unique<Timer>(loop);
    cancelled.run_after(1s, [&] { calls.push_back(1); });
    gone->run_after(1s, [&] { calls.push_back(2); });

    cancelled.cancel();
    gone.reset();
    scheduler.run_for(10s);

    EXPECT_TRUE(calls.empty());
    EXPECT_FALSE(cancelled.is_pending());
}

TEST_F(TimerTest, may_be_set_again_by_its_call) {
    Timer timer(loop);
    timer.run_after(1s, [&] {
        calls.push_back(1);
        EXPECT_FALSE(timer.is_pending());
        timer.run_after(1s, [&] { calls.push_back(2); });
    });

    scheduler.run_for(10s);

    EXPECT_EQ(calls, (std::vector<int>{1, 2}));
}

TEST_F(TimerTest, may_be_destroyed_by_its_call) {
    auto timer = std::make_unique<Timer>(loop);
    timer->run_after(1s, [&, kept = std::make_unique<int>(7)] {
        timer.reset();
        calls.push_back(*kept);
    });

    scheduler.run_for(10s);

    EXPECT_EQ(calls, std::vector<int>{7});
}

TEST_F(TimerTest, may_be_used_by_the_destructor_of_a_call) {
    Timer timer(loop);
    struct Again {
        Timer* timer;
        std::vector<int>* calls;
        Again(Timer* its, std::vector<int>* all) : timer(its), calls(all) {}
        Again(Again&& other) noexcept
            : timer(std::exchange(other.timer, nullptr)), calls(other.calls) {}
        Again& operator=(Again&&) = delete;
        ~Again() {
            if (timer) timer->run_after(1s, [all = calls] { all->push_back(2); });
        }
        void operator()() { calls->push_back(1); }
    };
    timer.run_after(1s, Again(&timer, &calls));

    timer.cancel();
    scheduler.run_for(10s);

    EXPECT_EQ(calls, std::vector<int>{2});
}

}  // namespace
}  // namespace evenkeel::io
