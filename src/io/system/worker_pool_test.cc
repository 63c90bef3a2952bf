#include "io/system/worker_pool.h"

#include <atomic>
#include <deque>
#include <latch>

#include <gtest/gtest.h>

#include "base/promise.h"

namespace evenkeel::io::system {
namespace {

TEST(WorkerPool, runs_others_while_one_blocks) {
    WorkerPool pool("work", 2);
    Promise<bool> let_go, second_ran;
    std::atomic<bool> first_ended = false;

    pool.post([&] {
        let_go.wait();
        first_ended = true;
    });
    pool.post([&] { second_ran.set(true); });

    EXPECT_TRUE(second_ran.wait());
    EXPECT_FALSE(first_ended);
    let_go.set(true);
    pool.finish();
    EXPECT_TRUE(first_ended);
}

TEST(WorkerPool, uses_every_thread_when_each_task_waits_for_the_others) {
    constexpr int threads = 4;
    std::deque<std::latch> rounds;  // who waits at one looks at it once more on leaving
    std::atomic<int> quick = 0;
    WorkerPool pool("work", threads);

    for (int round = 0; round < 100; ++round) {
        std::latch& all_here = rounds.emplace_back(threads);
        for (int i = 0; i < threads; ++i) pool.post([&] { all_here.arrive_and_wait(); });
        pool.post([&] { ++quick; });
        all_here.wait();
    }

    pool.finish();
    EXPECT_EQ(quick, 100);
}

TEST(WorkerPool, runs_all_that_was_posted_before_it_ends_and_nothing_after) {
    std::atomic<int> ran = 0;
    WorkerPool pool("work", 3);

    for (int i = 0; i < 1000; ++i) pool.post([&] { ++ran; });
    pool.finish();
    pool.post([&] { ++ran; });

    EXPECT_EQ(ran, 1000);
}

}  // namespace
}  // namespace evenkeel::io::system
