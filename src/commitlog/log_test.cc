#include "commitlog/log.h"

#include <gtest/gtest.h>

#include "commitlog/log_fixture.h"

namespace evenkeel::commitlog {
namespace {

TEST(Log, gives_back_what_was_appended) {
    LogFixture world;

    ASSERT_TRUE(world.append({"a", "b"}).ok());
    ASSERT_TRUE(world.append({"c"}).ok());

    EXPECT_EQ(world.read_all().bodies(), (std::vector<std::string>{"a", "b", "c"}));
    world.reopen();
    EXPECT_EQ(world.read_all().bodies(), (std::vector<std::string>{"a", "b", "c"}));
}

}  // namespace
}  // namespace evenkeel::commitlog
