#include "server/store_threads.h"

#include <memory>

#include <gtest/gtest.h>

#include "base/promise.h"

namespace evenkeel::server {
namespace {

using namespace std::chrono_literals;

TEST(StoreThreads, end_with_their_calls) {
    StoreThreads threads;
    const auto ran = std::make_shared<Promise<bool>>();
    threads.loop_of("sqlite:a").post([ran] { ran->set(true); });
    EXPECT_NE(&threads.loop_of("sqlite:a"), &threads.loop_of("sqlite:b"));
    ran->wait();
    EXPECT_TRUE(threads.stop(1min));
}

TEST(StoreThreads, leave_a_store_that_hangs) {
    const auto began = std::make_shared<Promise<bool>>();
    const auto release = std::make_shared<Promise<bool>>();
    const auto ended = std::make_shared<Promise<bool>>();
    {
        StoreThreads threads;
        threads.loop_of("sqlite:dead-mount").post([began, release, ended] {
            began->set(true);
            release->wait();
            ended->set(true);
        });
        began->wait();
        EXPECT_FALSE(threads.stop(1ms));
        EXPECT_TRUE(threads.stop(1ms)) << "it is not ours any more";
    }
    release->set(true);
    EXPECT_TRUE(ended->wait());
}

}  // namespace
}  // namespace evenkeel::server
