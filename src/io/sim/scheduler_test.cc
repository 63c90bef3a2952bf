#include "io/sim/scheduler.h"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/seed.h"

namespace evenkeel::io::sim {
namespace {

using namespace std::chrono_literals;
using test::test_seed;

// Two loops and a disk that pass work around, each noting what it ran.
std::string a_run(std::uint64_t seed, std::uint64_t* hash) {
    Scheduler scheduler(seed);
    SimLoop a(scheduler, "a");
    SimLoop b(scheduler, "b");
    SimExecutor disk(scheduler, "disk");
    disk.set_latency(1ms, 9ms);
    std::string order;
    for (int i = 0; i < 20; ++i) {
        a.post([&] { disk.post([&] { a.post([&] { order += 'a'; }); }); });
        b.post([&] {
            order += 'b';
            b.run_after(3ms, [&] { order += 't'; });
        });
    }
    EXPECT_TRUE(scheduler.run_until_idle());
    *hash = scheduler.trace_hash();
    return order;
}

// SCHED-1
TEST(Scheduler, repeats_a_seed_step_by_step) {
    std::uint64_t first_hash = 0;
    std::uint64_t second_hash = 0;
    const std::uint64_t seed = test_seed();

    const std::string first = a_run(seed, &first_hash);
    const std::string second = a_run(seed, &second_hash);

    EXPECT_EQ(first, second);
    EXPECT_EQ(first_hash, second_hash);
}

TEST(Scheduler, interleaves_differently_for_another_seed) {
    std::uint64_t first_hash = 0;
    std::uint64_t second_hash = 0;

    const std::string first = a_run(1, &first_hash);
    const std::string second = a_run(2, &second_hash);

    EXPECT_NE(first, second);
    EXPECT_NE(first_hash, second_hash);
}

// SCHED-2
TEST(Scheduler, runs_the_tasks_of_one_executor_in_the_order_of_posting) {
    Scheduler scheduler(test_seed());
    SimLoop a(scheduler, "a");
    SimExecutor b(scheduler, "b");
    b.set_latency(0ms, 5ms);
    std::vector<int> ran_a;
    std::vector<int> ran_b;
    std::vector<int> expected;
    for (int i = 0; i < 100; ++i) {
        a.post([&ran_a, i] { ran_a.push_back(i); });
        b.post([&ran_b, i] { ran_b.push_back(i); });
        expected.push_back(i);
    }

    ASSERT_TRUE(scheduler.run_until_idle());

    EXPECT_EQ(ran_a, expected);
    EXPECT_EQ(ran_b, expected);
}

// SCHED-3
TEST(Scheduler, runs_timers_in_the_order_of_their_times_and_never_early) {
    Scheduler scheduler(test_seed());
    SimLoop loop(scheduler, "a");
    const Instant begin = scheduler.now();
    std::vector<int> ran;
    for (const int delay : {30, 10, 20, 10}) {
        loop.run_at(begin + delay * 1ms, [&, delay] {
            EXPECT_EQ(loop.clock().now(), begin + delay * 1ms);
            ran.push_back(delay);
        });
    }

    ASSERT_TRUE(scheduler.run_until_idle());

    EXPECT_EQ(ran, (std::vector<int>{10, 10, 20, 30}));
}

TEST(Scheduler, does_not_run_a_cancelled_timer) {
    Scheduler scheduler(test_seed());
    SimLoop loop(scheduler, "a");
    bool ran = false;
    TimerId second{};
    loop.run_after(1ms, [&] { loop.cancel(second); });
    second = loop.run_after(1ms, [&] { ran = true; });

    ASSERT_TRUE(scheduler.run_until_idle());

    EXPECT_FALSE(ran);
    loop.cancel(second);  // has no effect on one that is gone
}

// SCHED-4
TEST(Scheduler, keeps_time_while_tasks_are_ready) {
    Scheduler scheduler(test_seed());
    SimLoop loop(scheduler, "a");
    const Instant begin = scheduler.now();
    Instant seen;
    loop.run_after(5s, [] {});
    loop.post([&] { loop.post([&] { seen = scheduler.now(); }); });

    scheduler.step();
    scheduler.step();

    EXPECT_EQ(seen, begin);
    scheduler.step();
    EXPECT_EQ(scheduler.now(), begin + 5s);
    EXPECT_FALSE(scheduler.step());
}

// SCHED-5
TEST(Scheduler, drops_all_of_a_discarded_loop) {
    Scheduler scheduler(test_seed());
    SimLoop loop(scheduler, "a");
    auto held = std::make_shared<int>(7);
    bool ran = false;
    loop.post([&, held] { ran = true; });
    loop.run_after(1s, [&, held] { ran = true; });

    loop.discard();

    EXPECT_EQ(held.use_count(), 1) << "tasks are destroyed at once";
    loop.post([&, held] { ran = true; });
    loop.run_after(1s, [&, held] { ran = true; });
    EXPECT_EQ(held.use_count(), 1);
    EXPECT_FALSE(scheduler.step());
    EXPECT_FALSE(ran);
}

TEST(Scheduler, lets_a_task_discard_and_destroy_its_own_loop) {
    Scheduler scheduler(test_seed());
    auto loop = std::make_unique<SimLoop>(scheduler, "a");
    bool ran = false;
    loop->post([&] { loop.reset(); });
    loop->post([&] { ran = true; });

    ASSERT_TRUE(scheduler.run_until_idle());

    EXPECT_FALSE(ran);
}

TEST(Scheduler, is_here_only_on_the_loop_whose_task_runs) {
    Scheduler scheduler(test_seed());
    SimLoop a(scheduler, "a");
    SimLoop b(scheduler, "b");
    SimExecutor disk(scheduler, "disk");
    int checked = 0;
    EXPECT_TRUE(a.is_here() && b.is_here()) << "set-up code may call anything";
    a.post([&] { checked += a.is_here() && !b.is_here(); });
    disk.post([&] { checked += !a.is_here() && !b.is_here(); });
    scheduler.run_after(1ms, [&] { checked += a.is_here() && b.is_here(); });

    ASSERT_TRUE(scheduler.run_until_idle());

    EXPECT_EQ(checked, 3);
}

TEST(Scheduler, holds_a_paused_loop_while_time_goes_on) {
    Scheduler scheduler(test_seed());
    SimLoop frozen(scheduler, "a");
    SimLoop other(scheduler, "b");
    const Instant begin = scheduler.now();
    Instant timer_ran;
    bool other_ran = false;
    frozen.run_after(1s, [&] { timer_ran = frozen.clock().now(); });
    other.run_after(2s, [&] { other_ran = true; });

    frozen.pause(40s);
    scheduler.run_for(39s);

    EXPECT_TRUE(other_ran);
    EXPECT_EQ(timer_ran, Instant{});
    scheduler.run_for(1s);
    EXPECT_EQ(timer_ran, begin + 40s);
}

TEST(Scheduler, serves_the_tasks_of_a_slow_executor_one_after_another) {
    Scheduler scheduler(test_seed());
    SimExecutor disk(scheduler, "disk");
    disk.set_latency(5ms, 5ms);
    const Instant begin = scheduler.now();
    for (int i = 0; i < 10; ++i) disk.post([] {});

    ASSERT_TRUE(scheduler.run_until_idle());

    EXPECT_EQ(scheduler.now() - begin, 50ms);
}

TEST(Scheduler, gives_each_loop_its_own_wall_clock) {
    Scheduler scheduler(test_seed());
    SimLoop right(scheduler, "a");
    SimLoop ahead(scheduler, "b");
    SimLoop drifting(scheduler, "c");

    ahead.set_wall_skew(-90s);
    drifting.set_wall_skew(0s, 1000);
    scheduler.run_for(100s);

    EXPECT_EQ(to_string(right.clock().wall()), "2026-01-01T00:01:40.000Z");
    EXPECT_EQ(ahead.clock().wall() - right.clock().wall(), -90s);
    EXPECT_EQ(drifting.clock().wall() - right.clock().wall(), 100ms);
    EXPECT_EQ(ahead.clock().now(), right.clock().now());
}

TEST(Scheduler, runs_until_a_condition_holds_or_time_is_up) {
    Scheduler scheduler(test_seed());
    SimLoop loop(scheduler, "a");
    const Instant begin = scheduler.now();
    int ticks = 0;
    struct Ticker {
        SimLoop& loop;
        int& ticks;
        void operator()() const {
            ++ticks;
            loop.run_after(1s, Ticker{loop, ticks});
        }
    };
    loop.run_after(1s, Ticker{loop, ticks});

    EXPECT_TRUE(scheduler.run_until([&] { return ticks == 3; }, 10s));
    EXPECT_EQ(scheduler.now(), begin + 3s);
    EXPECT_FALSE(scheduler.run_until([&] { return ticks == 100; }, 10s));
    EXPECT_EQ(scheduler.now(), begin + 13s);
    EXPECT_FALSE(scheduler.run_until_idle(50));
}

TEST(SchedulerDeathTest, ends_the_process_for_a_call_from_another_loop) {
    EXPECT_DEATH(
        {
            Scheduler scheduler(1);
            SimLoop a(scheduler, "a");
            SimLoop b(scheduler, "b");
            a.post([&] { b.run_after(1s, [] {}); });
            scheduler.step();
        },
        "called off the loop");
}

}  // namespace
}  // namespace evenkeel::io::sim
