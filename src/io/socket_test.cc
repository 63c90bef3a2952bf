#include "io/socket.h"

#include <gtest/gtest.h>

namespace evenkeel::io {
namespace {

TEST(Endpoint, is_written_with_brackets_around_a_v6_address) {
    EXPECT_EQ(to_string(Endpoint{"localhost", 5672}), "localhost:5672");
    EXPECT_EQ(to_string(Endpoint{"::1", 5672}), "[::1]:5672");
}

}  // namespace
}  // namespace evenkeel::io
