#include "checkpoint/redis/error.h"

#include <gtest/gtest.h>

namespace evenkeel::checkpoint {
namespace {

TEST(RedisError, says_what_to_do) {
    const Error wrong = redis_error("redis://h:1/0", "WRONGPASS invalid username-password pair");
    EXPECT_EQ(wrong.code, ErrorCode::not_allowed);
    EXPECT_EQ(wrong.detail,
              "redis://h:1/0: WRONGPASS invalid username-password pair; check user and password in "
              "the address");
    EXPECT_EQ(redis_error("", "OOM command not allowed").code, ErrorCode::overloaded);
    EXPECT_EQ(redis_error("", "WRONGTYPE Operation").code, ErrorCode::unsupported);
    EXPECT_EQ(redis_error("", "LOADING Redis is loading").code, ErrorCode::unavailable);
    EXPECT_EQ(redis_error("", "EVENKEEL x is damaged").code, ErrorCode::corrupt);
    EXPECT_EQ(redis_error("", "ERR whatever").code, ErrorCode::unavailable);
    EXPECT_EQ(redis_error("", "ASK 3999 10.0.0.7:6381").code, ErrorCode::unavailable);
    EXPECT_TRUE(redis_ends_connection("READONLY You can't write"));
    EXPECT_FALSE(redis_ends_connection("OOM"));
}

TEST(RedisError, follows_a_cluster) {
    EXPECT_EQ(redis_moved_to("MOVED 3999 10.0.0.7:6381", "h"), (io::Endpoint{"10.0.0.7", 6381}));
    EXPECT_EQ(redis_moved_to("MOVED 3999 :6381", "h"), (io::Endpoint{"h", 6381}));
    EXPECT_FALSE(redis_moved_to("MOVED 3999", "h"));
    EXPECT_FALSE(redis_moved_to("ASK 3999 10.0.0.7:6381", "h"));
}

}  // namespace
}  // namespace evenkeel::checkpoint
