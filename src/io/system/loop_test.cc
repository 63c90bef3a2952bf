#include "io/system/loop.h"

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>

#include <gtest/gtest.h>

namespace evenkeel::io::system {
namespace {

using namespace std::chrono_literals;

std::string thread_name() {
    char name[16] = {};
    pthread_getname_np(pthread_self(), name, sizeof name);
    return name;
}

TEST(LoopThread, runs_tasks_in_the_order_of_posting_on_its_own_thread) {
    LoopThread loop("loop/7");
    std::vector<int> ran;
    std::vector<int> expected;
    std::string name;
    loop.start();

    for (int i = 0; i < 1000; ++i) {
        expected.push_back(i);
        loop.post([&, i] { ran.push_back(i); });
    }
    run_and_wait(loop, [&] { name = thread_name(); });

    EXPECT_EQ(ran, expected);
    EXPECT_EQ(name, "loop/7");
}

TEST(LoopThread, takes_posts_from_many_threads_and_keeps_the_order_of_each) {
    LoopThread loop("loop/0");
    std::vector<int> last(4, -1);
    int out_of_order = 0;
    loop.start();

    {
        std::vector<std::jthread> posters;
        for (std::size_t poster = 0; poster < last.size(); ++poster) {
            posters.emplace_back([&, poster] {
                for (int i = 0; i < 5000; ++i) {
                    loop.post([&, poster, i] {
                        out_of_order += last[poster] != i - 1;
                        last[poster] = i;
                    });
                }
            });
        }
    }
    run_and_wait(loop, [] {});

    EXPECT_EQ(out_of_order, 0);
    EXPECT_EQ(last, (std::vector<int>(4, 4999)));
}

TEST(LoopThread, runs_what_was_posted_and_timed_before_it_started) {
    LoopThread loop("loop/0");
    std::string ran;
    std::atomic<bool> timer_ran = false;
    EXPECT_TRUE(loop.is_here());
    loop.post([&] { ran += 'p'; });
    loop.run_after(0ms, [&] { timer_ran = true; });

    loop.start();
    run_and_wait(loop, [] {});
    while (!timer_ran) std::this_thread::yield();

    EXPECT_EQ(ran, "p");
}

TEST(LoopThread, is_here_on_its_thread_only_while_it_runs) {
    LoopThread loop("loop/0");
    LoopThread other("loop/1");
    loop.start();
    other.start();
    bool here = false;
    bool there = true;

    run_and_wait(loop, [&] {
        here = loop.is_here();
        there = other.is_here();
    });

    EXPECT_TRUE(here);
    EXPECT_FALSE(there);
    EXPECT_FALSE(loop.is_here());
    loop.stop();
    EXPECT_TRUE(loop.is_here()) << "what is pinned is taken down after stop()";
}

TEST(LoopThread, runs_timers_in_the_order_of_their_times_and_never_early) {
    LoopThread loop("loop/0");
    std::vector<int> ran;
    bool early = false;
    std::atomic<bool> done = false;
    loop.start();

    run_and_wait(loop, [&] {
        const Instant begin = loop.clock().now();
        for (const int delay : {6, 2, 4, 2}) {
            loop.run_at(begin + delay * 1ms, [&, delay, begin] {
                early |= loop.clock().now() < begin + delay * 1ms;
                ran.push_back(delay);
                if (delay == 6) done = true;
            });
        }
        loop.run_at(begin - 1s, [&] { ran.push_back(0); });
    });
    while (!done) std::this_thread::yield();
    loop.stop();

    EXPECT_EQ(ran, (std::vector<int>{0, 2, 2, 4, 6}));
    EXPECT_FALSE(early);
}

TEST(LoopThread, lets_a_timer_set_the_next_one) {
    LoopThread loop("loop/0");
    std::atomic<int> ticks = 0;
    struct Tick {
        LoopThread& loop;
        std::atomic<int>& ticks;
        void operator()() const {
            if (++ticks < 20) loop.run_after(100us, Tick{loop, ticks});
        }
    };
    loop.start();

    run_and_wait(loop, [&] { loop.run_after(0us, Tick{loop, ticks}); });
    while (ticks < 20) std::this_thread::yield();

    EXPECT_EQ(ticks, 20);
}

TEST(LoopThread, does_not_run_a_cancelled_timer_even_when_both_are_due) {
    LoopThread loop("loop/0");
    bool ran = false;
    std::atomic<bool> done = false;
    loop.start();

    run_and_wait(loop, [&] {
        const Instant when = loop.clock().now() + 1ms;
        auto second = std::make_shared<TimerId>();
        loop.run_at(when, [&, second] { loop.cancel(*second); });
        *second = loop.run_at(when, [&] { ran = true; });
        loop.run_at(when, [&] { done = true; });
        loop.cancel(loop.run_after(0ms, [&] { ran = true; }));
    });
    while (!done) std::this_thread::yield();
    loop.stop();

    EXPECT_FALSE(ran);
}

TEST(LoopThread, destroys_what_did_not_run_when_it_stops) {
    LoopThread loop("loop/0");
    auto held = std::make_shared<int>(7);
    bool ran = false;
    loop.start();
    run_and_wait(loop, [&] { loop.run_after(1h, [&, held] { ran = true; }); });

    loop.stop();
    loop.post([&, held] { ran = true; });
    loop.run_after(0ms, [&, held] { ran = true; });
    run_and_wait(loop, [&, held] { ran = true; });
    loop.stop();

    EXPECT_EQ(held.use_count(), 1);
    EXPECT_FALSE(ran);
}

TEST(LoopThread, begins_no_task_after_stop_was_called) {
    LoopThread loop("loop/0");
    std::atomic<bool> entered = false;
    std::atomic<bool> leave = false;
    auto held = std::make_shared<int>(7);
    bool ran = false;
    loop.start();
    loop.post([&] {
        entered = true;
        while (!leave) std::this_thread::yield();
    });
    while (!entered) std::this_thread::yield();
    loop.post([&, held] { ran = true; });

    std::jthread stopper([&] { loop.stop(); });
    // stop() is under way as soon as the loop says that any thread may use it.
    while (!loop.is_here()) std::this_thread::yield();
    leave = true;
    stopper.join();

    EXPECT_FALSE(ran);
    EXPECT_EQ(held.use_count(), 1);
}

TEST(LoopThread, is_stopped_by_its_destructor_without_having_started) {
    auto held = std::make_shared<int>(7);

    {
        LoopThread loop("loop/0");
        loop.post([held] {});
    }

    EXPECT_EQ(held.use_count(), 1);
}

TEST(LoopThreadDeathTest, ends_the_process_when_a_timer_is_set_off_the_loop) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_DEATH(
        {
            LoopThread loop("loop/0");
            loop.start();
            loop.run_after(1s, [] {});
        },
        "called off the loop");
}

TEST(WorkerThread, runs_all_that_was_posted_in_order_before_it_finishes) {
    WorkerThread worker("disk/3");
    std::vector<int> ran;
    std::vector<int> expected;
    std::string name;
    for (int i = 0; i < 1000; ++i) {
        expected.push_back(i);
        worker.post([&, i] {
            name = thread_name();
            ran.push_back(i);
        });
    }

    worker.finish();

    EXPECT_EQ(ran, expected);
    EXPECT_EQ(name, "disk/3");
}

TEST(WorkerThread, drops_what_is_posted_after_it_finished) {
    WorkerThread worker("disk/0");
    auto held = std::make_shared<int>(7);
    bool ran = false;
    worker.finish();

    worker.post([&, held] { ran = true; });
    run_and_wait(worker, [&, held] { ran = true; });

    EXPECT_FALSE(ran);
    EXPECT_EQ(held.use_count(), 1);
}

TEST(WorkerThread, answers_to_a_loop_by_post) {
    LoopThread loop("loop/0");
    WorkerThread disk("disk/0");
    std::atomic<bool> answered = false;
    bool on_disk = false;
    bool on_loop = false;
    loop.start();

    loop.post([&] {
        disk.post([&] {
            on_disk = disk.is_here();
            loop.post([&] {
                on_loop = loop.is_here();
                answered = true;
            });
        });
    });
    while (!answered) std::this_thread::yield();

    EXPECT_TRUE(on_disk);
    EXPECT_TRUE(on_loop);
}

}  // namespace
}  // namespace evenkeel::io::system
