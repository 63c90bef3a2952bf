#include "checkpoint/redis/cluster.h"

#include <gtest/gtest.h>

namespace evenkeel::checkpoint {
namespace {

using Kind = RespValue::Kind;

RespValue number(std::int64_t value) {
    return {.kind = Kind::integer, .integer = value};
}
RespValue text(std::string value) {
    return {.kind = Kind::text, .text = std::move(value)};
}
RespValue list(std::vector<RespValue> values) {
    return {.kind = Kind::list, .list = std::move(values)};
}
RespValue range(std::int64_t first, std::int64_t last, RespValue host, std::int64_t port) {
    return list({number(first), number(last), list({std::move(host), number(port), text("id")}),
                 list({text("replica"), number(1), text("id")})});
}

TEST(RedisCluster, is_told_by_the_greeting) {
    EXPECT_TRUE(
        is_of_cluster(list({text("server"), text("redis"), text("mode"), text("cluster")})));
    EXPECT_FALSE(is_of_cluster(list({text("mode"), text("standalone")})));
    EXPECT_FALSE(is_of_cluster(list({text("mode")})));
    EXPECT_FALSE(is_of_cluster({}));
}

TEST(RedisCluster, has_each_primary_once) {
    const auto found = cluster_primaries(
        list({range(0, 99, text("a"), 1), range(100, 199, text(""), 2), range(200, 299, {}, 3),
              range(300, 16'382, text("a"), 1), range(16'383, 16'383, text("?"), 4)}),
        "h");

    ASSERT_TRUE(found) << to_string(found.error());
    EXPECT_EQ(*found, (std::vector<io::Endpoint>{{"a", 1}, {"h", 2}, {"h", 3}, {"h", 4}}));
}

TEST(RedisCluster, without_all_slots_is_told) {
    const auto found = cluster_primaries(list({range(1, 16'382, text("a"), 1)}), "h");

    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, ErrorCode::unavailable);
    EXPECT_NE(found.error().detail.find("2 of the cluster's 16384"), std::string::npos)
        << found.error().detail;
    EXPECT_EQ(cluster_primaries(list({}), "h").error().code, ErrorCode::unavailable);
}

TEST(RedisCluster, that_answers_something_else_is_told) {
    for (const RespValue& bad :
         {text("OK"), RespValue{}, list({text("x")}), list({list({number(0), number(1)})}),
          list({range(5, 4, text("a"), 1)}), list({range(0, 16'384, text("a"), 1)}),
          list({range(-1, 3, text("a"), 1)}), list({range(0, 16'383, text("a"), 0)}),
          list({range(0, 16'383, text("a"), 65'536)}),
          list({list({number(0), number(16'383), text("a")})})}) {
        const auto found = cluster_primaries(bad, "h");
        ASSERT_FALSE(found);
        EXPECT_EQ(found.error().code, ErrorCode::corrupt);
    }
}

}  // namespace
}  // namespace evenkeel::checkpoint
