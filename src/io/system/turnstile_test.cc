#include "io/system/turnstile.h"

#include <filesystem>
#include <memory>

#include <gtest/gtest.h>

#include "support/temporary_directory.h"

namespace evenkeel::io::system {
namespace {

TEST(Turnstile, lets_one_in_at_a_time) {
    const test::TemporaryDirectory directory;
    Turnstile a(directory.path() + "/turn");
    auto b = std::make_unique<Turnstile>(directory.path() + "/turn");

    EXPECT_TRUE(a.try_enter());
    EXPECT_FALSE(b->try_enter());
    a.leave();
    EXPECT_TRUE(b->try_enter());
    EXPECT_FALSE(a.try_enter());
    b.reset();
    EXPECT_TRUE(a.try_enter()) << "one that is gone has left";
}

TEST(Turnstile, makes_its_file_when_one_enters) {
    const test::TemporaryDirectory directory;
    const std::string path = directory.path() + "/turn";
    Turnstile a(path);

    EXPECT_FALSE(std::filesystem::exists(path));
    EXPECT_TRUE(a.try_enter());
    EXPECT_TRUE(std::filesystem::exists(path));
}

TEST(Turnstile, one_that_cannot_be_opened_stops_nobody) {
    Turnstile a("/no/such/folder/turn");
    Turnstile b("/no/such/folder/turn");

    EXPECT_TRUE(a.try_enter());
    EXPECT_TRUE(b.try_enter());
}

}  // namespace
}  // namespace evenkeel::io::system
