#include "checkpoint/redis/text.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "support/seed.h"

namespace evenkeel::checkpoint {
namespace {

TEST(RedisText, strings_of_any_bytes_come_back) {
    const std::vector<std::string> strings = {"", std::string("a\0b", 3), "3:x,", "\xff"};
    EXPECT_EQ(decode_strings(encode_strings(strings), 4), strings);
    EXPECT_FALSE(decode_strings(encode_strings(strings), 3));
    EXPECT_FALSE(decode_strings("3:ab,", 1));
    EXPECT_FALSE(decode_strings("-1:,", 1));
    EXPECT_FALSE(decode_strings("1:a", 1));
    EXPECT_FALSE(decode_strings("99999999999999999999:a,", 1));
}

TEST(RedisText, entries_that_are_damaged_are_named) {
    const auto member = member_of("x", "7 1 2 ab", 0);
    ASSERT_FALSE(member);
    EXPECT_EQ(member.error().code, ErrorCode::corrupt);
    EXPECT_NE(member.error().detail.find("member 'x'"), std::string::npos);
    EXPECT_FALSE(ownership_of("1", "", 0));
    EXPECT_FALSE(checkpoint_of("1", "1 2 3 4 5"));
    EXPECT_FALSE(checkpoint_of("a", "1 2 3 4 5 6 "));
    EXPECT_FALSE(record_of("k", "v 1"));
    EXPECT_FALSE(dead_letter_of("1:2", ""));
    EXPECT_FALSE(dead_letter_of("12", to_redis(DeadLetter{})));
}

TEST(RedisText, a_checkpoint_keeps_an_offset_of_any_bytes) {
    const auto checkpoint = checkpoint_of("7", "5 -1 0 8 9 10 a b\n");
    ASSERT_TRUE(checkpoint) << to_string(checkpoint.error());
    EXPECT_EQ(checkpoint->partition, PartitionId{7});
    EXPECT_EQ(checkpoint->epoch, Epoch{5});
    EXPECT_EQ(checkpoint->sequence, SequenceNumber{-1});
    EXPECT_EQ(checkpoint->hub_created_ms, 8);
    EXPECT_EQ(checkpoint->enqueued_ms, 9);
    EXPECT_EQ(checkpoint->written_ms, 10);
    EXPECT_EQ(checkpoint->offset, "a b\n");
}

TEST(RedisText, random_bytes_do_no_harm) {
    Random random(test::test_seed());
    for (int i = 0; i < 5000; ++i) {
        std::string bytes(random.below(20), '\0');
        for (char& c : bytes) {
            c = random.chance(3, 4) ? "0123: ,-"[random.below(8)]
                                    : static_cast<char>(random.below(256));
        }
        (void)member_of("x", bytes, 0);
        (void)ownership_of("1", bytes, 0);
        (void)checkpoint_of("1", bytes);
        (void)dead_letter_of(bytes, bytes);
    }
}

}  // namespace
}  // namespace evenkeel::checkpoint
