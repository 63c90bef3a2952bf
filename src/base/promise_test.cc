#include "base/promise.h"

#include <memory>
#include <string>
#include <thread>

#include <gtest/gtest.h>

namespace evenkeel {
namespace {

TEST(Promise, lets_a_thread_wait_for_the_value_of_another) {
    Promise<std::unique_ptr<int>> promise;
    std::thread other([&] { promise.set(std::make_unique<int>(7)); });

    EXPECT_EQ(*promise.wait(), 7);

    other.join();
}

TEST(Promise, keeps_its_first_value) {
    Promise<std::string> promise;
    EXPECT_FALSE(promise.is_set());

    promise.set("first");
    promise.set("second");

    EXPECT_TRUE(promise.is_set());
    EXPECT_EQ(promise.wait(), "first");
}

TEST(Promise, gives_a_copy_to_each_that_asks_for_one) {
    Promise<std::string> promise;
    std::string here;
    std::string there;
    std::thread other([&] { there = promise.copy(); });

    promise.set("done");
    here = promise.copy();
    other.join();

    EXPECT_EQ(here, "done");
    EXPECT_EQ(there, "done");
}

}  // namespace
}  // namespace evenkeel
