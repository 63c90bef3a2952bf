#include "checkpoint/redis/address.h"

#include <gtest/gtest.h>

namespace evenkeel::checkpoint {
namespace {

TEST(RedisAddress, is_taken_apart) {
    const auto full = RedisAddress::parse("rediss://me:s%40cret@h:1234/7?ca=/etc/ca.pem");
    ASSERT_TRUE(full) << to_string(full.error());
    EXPECT_TRUE(full->is_tls);
    EXPECT_EQ(full->user, "me");
    EXPECT_EQ(full->password, "s@cret");
    EXPECT_EQ(full->endpoint, (io::Endpoint{"h", 1234}));
    EXPECT_EQ(full->database, 7);
    EXPECT_EQ(full->ca_file, "/etc/ca.pem");
    EXPECT_EQ(full->shown(), "rediss://h:1234/7");
    const auto shortest = RedisAddress::parse("redis://localhost");
    ASSERT_TRUE(shortest);
    EXPECT_EQ(shortest->shown(), "redis://localhost:6379/0");
    EXPECT_EQ(RedisAddress::parse("redis://:pw@h/")->password, "pw");
    EXPECT_EQ(RedisAddress::parse("redis://[::1]:77")->endpoint, (io::Endpoint{"::1", 77}));
    EXPECT_EQ(RedisAddress::parse("redis://[::1]")->endpoint, (io::Endpoint{"::1", 6379}));
    EXPECT_FALSE(RedisAddress::parse("rediss://h?insecure=1")->verify);
}

TEST(RedisAddress, names_sentinels) {
    const auto one = RedisAddress::parse("redis://:pw@s1?sentinel=main");
    const auto many = RedisAddress::parse("rediss://s1:1,[::1],s3:3/2?sentinel=main&insecure=1");

    ASSERT_TRUE(one) << to_string(one.error());
    EXPECT_EQ(one->sentinels, (std::vector<io::Endpoint>{{"s1", 26'379}}));
    EXPECT_EQ(one->primary, "main");
    ASSERT_TRUE(many) << to_string(many.error());
    EXPECT_EQ(many->sentinels, (std::vector<io::Endpoint>{{"s1", 1}, {"::1", 26'379}, {"s3", 3}}));
    EXPECT_EQ(many->database, 2);
    EXPECT_EQ(many->shown(), "rediss://s1:1,[::1]:26379,s3:3/2?sentinel=main");
    EXPECT_TRUE(RedisAddress::parse("redis://h")->sentinels.empty());
}

TEST(RedisAddress, hides_the_user_and_password_for_sentinels) {
    const auto both = RedisAddress::parse(
        "redis://me:pw@s1?sentinel=main&sentinel_user=asker&sentinel_password=hu%26sh%40");
    const auto password = RedisAddress::parse("redis://s1?sentinel_password=hush&sentinel=main");

    ASSERT_TRUE(both) << to_string(both.error());
    EXPECT_EQ(both->password, "pw");
    EXPECT_EQ(both->sentinel_user, "asker");
    EXPECT_EQ(both->sentinel_password, "hu&sh@");
    EXPECT_EQ(both->shown(), "redis://s1:26379/0?sentinel=main");
    ASSERT_TRUE(password) << to_string(password.error());
    EXPECT_EQ(password->sentinel_password, "hush");
    EXPECT_EQ(password->sentinel_user, "");
}

TEST(RedisAddress, what_cannot_be_read_is_told_without_secrets) {
    for (const char* bad : {"redis:h",
                            "redis://",
                            "redis://me:hush@",
                            "redis://me:hu/sh@h",
                            "redis://me:hush@h:x",
                            "redis://me:hush@h/db",
                            "redis://me:hush@h/-1",
                            "redis://me:hush%zz@h",
                            "redis://me:hush%4@h",
                            "redis://me:hush@h?ssl=1",
                            "redis://me:hush@h?ca=/x",
                            "redis://me@h",
                            "rediss://me:hush@h?insecure=yes",
                            "redis://me:hu@sh@h",
                            "redis://me:hush@a,b",
                            "redis://me:hush@a,,b?sentinel=m",
                            "redis://a?sentinel_password=hush",
                            "redis://a?sentinel=m&sentinel_user=hush",
                            "redis://a?sentinel=m&sentinel_password=hush%4",
                            "redis://a?sentinel=m&sentinel_pw=hush",
                            "redis://me:hush@a?sentinel=",
                            "redis://me:hush@a:x,b?sentinel=m"}) {
        const auto address = RedisAddress::parse(bad);
        ASSERT_FALSE(address) << bad;
        EXPECT_EQ(address.error().code, ErrorCode::invalid_argument);
        EXPECT_EQ(address.error().detail.find("hu"), std::string::npos) << address.error().detail;
        EXPECT_NE(address.error().detail.find("%40"), std::string::npos) << "no remedy";
    }
}

}  // namespace
}  // namespace evenkeel::checkpoint
