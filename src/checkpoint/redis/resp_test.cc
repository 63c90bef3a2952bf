#include "checkpoint/redis/resp.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "support/seed.h"

namespace evenkeel::checkpoint {
namespace {

using Kind = RespValue::Kind;

RespValue read(std::string_view bytes) {
    RespReader reader;
    reader.receive(bytes);
    auto value = reader.next();
    EXPECT_TRUE(value) << to_string(value.error());
    EXPECT_TRUE(value->has_value()) << bytes;
    return value->value_or(RespValue{});
}

TEST(Resp, commands_are_lists_of_texts) {
    std::string output;
    append_command(output, {"SET", std::string("a\0b", 3), ""});
    EXPECT_EQ(output, std::string("*3\r\n$3\r\nSET\r\n$3\r\na\0b\r\n$0\r\n\r\n", 28));
}

TEST(Resp, every_kind_of_reply_is_read) {
    EXPECT_EQ(read("+OK\r\n").text, "OK");
    EXPECT_TRUE(read("-ERR no\r\n").is_error());
    EXPECT_EQ(read("-ERR no\r\n").text, "ERR no");
    EXPECT_EQ(read("!6\r\nERR no\r\n").kind, Kind::error);
    EXPECT_EQ(read(":-42\r\n").integer, -42);
    EXPECT_EQ(read("#t\r\n").integer, 1);
    EXPECT_EQ(read("$3\r\na\r\n\r\n").text, "a\r\n");
    EXPECT_EQ(read("=5\r\ntxt:a\r\n").text, "txt:a");
    EXPECT_EQ(read("$-1\r\n").kind, Kind::null);
    EXPECT_EQ(read("*-1\r\n").kind, Kind::null);
    EXPECT_EQ(read("_\r\n").kind, Kind::null);
    EXPECT_EQ(read(",1.5\r\n").text, "1.5");
    EXPECT_EQ(read("*2\r\n:1\r\n*1\r\n+a\r\n").list.at(1).list.at(0).text, "a");
    EXPECT_EQ(read("%1\r\n+k\r\n:7\r\n").list.at(1).integer, 7);
    EXPECT_EQ(read(">2\r\n+message\r\n+x\r\n").kind, Kind::push);
    EXPECT_EQ(read("~1\r\n:1\r\n").list.size(), 1u);
}

TEST(Resp, replies_may_come_in_any_pieces) {
    const std::string stream = "+OK\r\n*3\r\n$5\r\nhello\r\n:1\r\n*0\r\n$0\r\n\r\n-ERR\r\n";
    Random random(test::test_seed());
    for (int round = 0; round < 200; ++round) {
        RespReader reader;
        std::size_t replies = 0, at = 0;
        while (at < stream.size()) {
            const std::size_t size = std::min<std::size_t>(1 + random.below(9), stream.size() - at);
            reader.receive(std::string_view(stream).substr(at, size));
            at += size;
            for (;;) {
                const auto value = reader.next();
                ASSERT_TRUE(value) << to_string(value.error());
                if (!value->has_value()) break;
                ++replies;
            }
        }
        EXPECT_EQ(replies, 4u);
    }
}

TEST(Resp, what_is_not_resp_is_refused) {
    for (const char* bad : {"HTTP/1.1 400 Bad Request\r\n", "\r\n", ":x\r\n", "$99999999999\r\n",
                            "*-7\r\n", "$1\r\nabc\r\n",
                            "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n"
                            "*1\r\n*1\r\n*1\r\n"}) {
        RespReader reader;
        reader.receive(bad);
        const auto value = reader.next();
        ASSERT_FALSE(value) << bad;
        EXPECT_EQ(value.error().code, ErrorCode::corrupt);
    }
}

TEST(Resp, random_bytes_do_no_harm) {
    Random random(test::test_seed());
    for (int round = 0; round < 5000; ++round) {
        std::string bytes(random.below(24), '\0');
        for (char& c : bytes) {
            c = random.chance(2, 3) ? "*$:+-%>_!=\r\n0123"[random.below(16)]
                                    : static_cast<char>(random.below(256));
        }
        RespReader reader;
        reader.receive(bytes);
        for (int i = 0; i < 30; ++i) {
            const auto value = reader.next();
            if (!value.ok() || !value->has_value()) break;
        }
    }
}

}  // namespace
}  // namespace evenkeel::checkpoint
