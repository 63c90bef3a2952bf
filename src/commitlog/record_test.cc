#include "commitlog/record.h"

#include <gtest/gtest.h>

#include "commitlog/segment_fixture.h"

namespace evenkeel::commitlog {
namespace {

constexpr Offset here{640};

std::vector<std::byte> a_record(std::string_view body = "hello", std::string_view key = "k") {
    const Record record{{10}, here, {1234}, 0, 1, {600}, as_bytes(key), as_bytes(body)};
    std::vector<std::byte> bytes(stored_bytes(record));
    encode(record, fixture_seed, bytes.data());
    return bytes;
}

TEST(Record, moves_the_offset_by_its_size_and_56_rounded_up_to_8) {
    EXPECT_EQ(stored_bytes(0, 0), 56u);
    EXPECT_EQ(stored_bytes(0, 1), 64u);
    EXPECT_EQ(stored_bytes(0, 5), 64u);
    EXPECT_EQ(stored_bytes(0, 8), 64u);
    EXPECT_EQ(stored_bytes(3, 6), 72u);
}

TEST(Record, comes_back_as_it_was) {
    const auto bytes = a_record();

    const auto record = decode(bytes, here, fixture_seed);

    ASSERT_TRUE(record.has_value());
    EXPECT_EQ(record->sequence.value, 10);
    EXPECT_EQ(record->offset, here);
    EXPECT_EQ(record->enqueued.milliseconds, 1234);
    EXPECT_EQ(record->batch_index, 0u);
    EXPECT_EQ(record->batch_remaining, 1u);
    EXPECT_EQ(record->synced.value, 600);
    EXPECT_EQ(as_text(record->key), "k");
    EXPECT_EQ(as_text(record->body), "hello");
}

TEST(Record, may_be_empty) {
    const auto bytes = a_record("", "");

    const auto record = decode(bytes, here, fixture_seed);

    ASSERT_TRUE(record.has_value());
    EXPECT_TRUE(record->key.empty());
    EXPECT_TRUE(record->body.empty());
}

TEST(Record, is_bad_with_any_bit_flipped) {
    const auto good = a_record();
    for (std::size_t i = 0; i < good.size() * 8; ++i) {
        auto bytes = good;
        bytes[i / 8] ^= std::byte{1} << (i % 8);
        EXPECT_FALSE(decode(bytes, here, fixture_seed).has_value()) << "bit " << i;
    }
}

TEST(Record, is_bad_when_it_is_not_all_there) {
    const auto bytes = a_record();
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        EXPECT_FALSE(decode(ByteView(bytes).first(size), here, fixture_seed).has_value()) << size;
    }
}

TEST(Record, is_bad_in_another_place) {
    EXPECT_FALSE(decode(a_record(), here + 8, fixture_seed).has_value());
}

TEST(Record, is_bad_in_another_partition_or_incarnation) {
    const Incarnation mine{std::byte{1}};
    const Incarnation other{std::byte{2}};
    const Record record{{0}, {0}, {0}, 0, 0, {0}, {}, as_bytes("x")};
    std::vector<std::byte> bytes(stored_bytes(record));

    encode(record, checksum_seed(mine, PartitionId{1}), bytes.data());

    EXPECT_TRUE(decode(bytes, {0}, checksum_seed(mine, PartitionId{1})).has_value());
    EXPECT_FALSE(decode(bytes, {0}, checksum_seed(mine, PartitionId{2})).has_value());
    EXPECT_FALSE(decode(bytes, {0}, checksum_seed(other, PartitionId{1})).has_value());
}

TEST(Record, claims_no_more_than_an_event_may_have) {
    auto bytes = a_record();

    EXPECT_EQ(claimed_bytes(bytes), bytes.size());
    store(bytes.data() + 8, static_cast<std::uint32_t>(body_bytes_max + 1));
    EXPECT_EQ(claimed_bytes(bytes), std::nullopt);
}

TEST(Record, leaves_no_bytes_of_memory_behind_it) {
    const Record record{{0}, {0}, {0}, 0, 0, {0}, {}, as_bytes("x")};
    std::vector<std::byte> bytes(stored_bytes(record), std::byte{0xee});

    encode(record, fixture_seed, bytes.data());

    for (std::size_t i = record_header_bytes + 1; i < bytes.size(); ++i) {
        EXPECT_EQ(bytes[i], std::byte{0}) << i;
    }
}

}  // namespace
}  // namespace evenkeel::commitlog
