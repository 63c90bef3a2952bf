#include "io/system/worker_pool.h"

#include <atomic>
#include <deque>
#include <filesystem>
#include <fstream>
#include <latch>
#include <string>

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

// Of this process, by the beginning of their name.
int threads_named(const std::string& begin) {
    int found = 0;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
        std::string name;
        std::ifstream(task.path() / "comm") >> name;
        if (name.starts_with(begin)) ++found;
    }
    return found;
}

TEST(WorkerPool, starts_a_thread_only_when_all_others_are_busy) {
    Promise<bool> first_runs, second_runs, let_go;
    WorkerPool pool("lazy", 8);

    pool.post([&] {
        first_runs.set(true);
        let_go.copy();
    });
    first_runs.wait();
    const int before = threads_named("lazy/");
    pool.post([&] {
        second_runs.set(true);
        let_go.copy();
    });
    second_runs.wait();

    EXPECT_EQ(before, 1);
    EXPECT_EQ(threads_named("lazy/"), 2);
    let_go.set(true);
}

TEST(WorkerPool, starts_threads_for_what_is_queued_when_it_finishes) {
    constexpr int threads = 4;
    std::latch all_here(threads);
    {
        WorkerPool pool("work", threads);
        for (int i = 0; i < threads; ++i) pool.post([&] { all_here.arrive_and_wait(); });
    }

    EXPECT_TRUE(all_here.try_wait());
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
