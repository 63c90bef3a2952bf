#include "base/lifetime.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

namespace evenkeel {
namespace {

TEST(Lifetime, lets_a_guarded_callback_run_while_it_lasts) {
    Lifetime lifetime;
    int sum = 0;
    auto add = lifetime.guard([&](int a, int b) { sum += a + b; });

    add(1, 2);
    add(3, 4);

    EXPECT_EQ(sum, 10);
}

TEST(Lifetime, skips_a_guarded_callback_when_the_object_is_gone) {
    int calls = 0;
    auto lifetime = std::make_unique<Lifetime>();
    auto call = lifetime->guard([&] { ++calls; });

    lifetime.reset();
    call();

    EXPECT_EQ(calls, 0);
}

TEST(Lifetime, passes_arguments_that_can_only_be_moved) {
    Lifetime lifetime;
    std::string taken;
    auto take = lifetime.guard([&](std::unique_ptr<std::string> text) { taken = *text; });

    take(std::make_unique<std::string>("moved"));

    EXPECT_EQ(taken, "moved");
}

TEST(Lifetime, watch_tells_when_it_is_over) {
    auto lifetime = std::make_unique<Lifetime>();
    const Lifetime::Watch watch = lifetime->watch();
    EXPECT_FALSE(watch.over());

    lifetime.reset();

    EXPECT_TRUE(watch.over());
    EXPECT_TRUE(Lifetime::Watch().over());
}

TEST(Lifetime, handle_gives_the_object_until_it_is_over) {
    std::string object = "it";
    auto lifetime = std::make_unique<Lifetime>();
    const Lifetime::Handle<std::string> handle = lifetime->handle(&object);
    EXPECT_EQ(handle.get(), &object);

    lifetime.reset();

    EXPECT_EQ(handle.get(), nullptr);
    EXPECT_EQ(Lifetime::Handle<std::string>().get(), nullptr);
}

TEST(Lifetime, can_end_before_its_object) {
    Lifetime lifetime;
    int calls = 0;
    auto call = lifetime.guard([&] { ++calls; });

    lifetime.end();
    call();

    EXPECT_EQ(calls, 0);
    EXPECT_TRUE(lifetime.watch().over());
}

}  // namespace
}  // namespace evenkeel
