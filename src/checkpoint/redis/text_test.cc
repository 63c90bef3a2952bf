#include "checkpoint/redis/text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "checkpoint/contract/golden_fixture.h"
#include "support/golden.h"
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

TEST(RedisText, time_is_two_numbers) {
    EXPECT_EQ(redis_time_us("1700000000", "000042"), 1'700'000'000'000'042);
    EXPECT_EQ(redis_time_us("0", "999999"), 999'999);
    EXPECT_FALSE(redis_time_us("", "0"));
    EXPECT_FALSE(redis_time_us("1", "x"));
    EXPECT_FALSE(redis_time_us("-1", "0"));
    EXPECT_FALSE(redis_time_us("1", "1000000"));
    EXPECT_FALSE(redis_time_us("9223372036854775807", "0"));
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

// As the server's script puts an entry together.
std::string stored(const RedisEntry& entry) {
    return fmt::format("0123456789abcdef01234567 1767225600456789 {} {}{}", entry.meaning.size(),
                       entry.meaning, entry.detail);
}

TEST(RedisGolden, a_member_is_as_format_1_says) {
    const Member member = golden_member();
    const std::string golden = test::golden_texts("redis_v1")["member"];

    EXPECT_EQ(stored(to_redis(member)), golden);

    const auto read = member_of("alice", golden, 1'767'225'601'456'789);
    ASSERT_TRUE(read.ok()) << to_string(read.error());
    EXPECT_EQ(stored(to_redis(*read)), golden);
    EXPECT_EQ(read->version, "0123456789abcdef01234567");
    EXPECT_EQ(read->age, std::chrono::seconds(1));
}

TEST(RedisGolden, an_ownership_is_as_format_1_says) {
    auto golden = test::golden_texts("redis_v1");
    const Ownership held = golden_ownership();
    const Ownership released = golden_released_ownership();

    EXPECT_EQ(stored(to_redis(held)), golden["ownership"]);
    EXPECT_EQ(stored(to_redis(released)), golden["ownership released"]);

    for (const char* name : {"ownership", "ownership released"}) {
        const auto read = ownership_of("3", golden[name], 0);
        ASSERT_TRUE(read.ok()) << to_string(read.error());
        EXPECT_EQ(stored(to_redis(*read)), golden[name]);
    }
}

TEST(RedisGolden, a_checkpoint_is_read_as_format_1_says) {
    auto golden = test::golden_texts("redis_v1");

    const auto full = checkpoint_of("3", golden["checkpoint"]);
    const auto none = checkpoint_of("3", golden["checkpoint without a position"]);

    ASSERT_TRUE(full.ok()) << to_string(full.error());
    EXPECT_EQ(full->epoch, Epoch{7});
    EXPECT_EQ(full->sequence, SequenceNumber{42});
    EXPECT_EQ(full->attempts, 1u);
    EXPECT_EQ(full->hub_created_ms, 1'767'225'600'123);
    EXPECT_EQ(full->enqueued_ms, 1'767'225'600'124);
    EXPECT_EQ(full->written_ms, 1'767'225'600'125);
    EXPECT_EQ(full->offset, "4294967296");
    ASSERT_TRUE(none.ok()) << to_string(none.error());
    EXPECT_EQ(none->sequence, SequenceNumber{-1});
    EXPECT_EQ(none->offset, "");
}

TEST(RedisGolden, records_and_dead_letters_are_as_format_1_says) {
    auto golden = test::golden_texts("redis_v1");
    const DeadLetter letter = golden_dead_letter();

    EXPECT_EQ(to_redis(letter), golden["dead letter"]);
    EXPECT_EQ(to_redis(*dead_letter_of("3:42", golden["dead letter"])), golden["dead letter"]);
    EXPECT_EQ(stored({.detail = "the value"}), golden["record"]);
    EXPECT_EQ(record_of("moves/3", golden["record"])->value, "the value");
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
