#include "eventhubs/partition_key.h"

#include <string>

#include <gtest/gtest.h>

namespace evenkeel::eventhubs {
namespace {

struct Vector {
    std::string key;
    int hash;
    std::uint32_t of_2, of_4, of_8, of_32, of_100;
};

// Computed with the clients' own code.
const Vector vectors[] = {
    {"", 0, 0, 0, 0, 0, 0},
    {"a", -16220, 0, 0, 4, 28, 20},
    {"0", 28433, 1, 1, 1, 17, 33},
    {"7", -15263, 1, 3, 7, 31, 63},
    {"alphabet", -23478, 0, 2, 6, 22, 78},
    {"key1", 2075, 1, 3, 3, 27, 75},
    {"key-2", -12361, 1, 1, 1, 9, 61},
    {"abcdefghijkl", -2373, 1, 1, 5, 5, 73},
    {"abcdefghijklm", -31855, 1, 3, 7, 15, 55},
    {"7149583486996073602", 12977, 1, 1, 1, 17, 77},
    {"FWfAT", -22341, 1, 1, 5, 5, 41},
    {"sOdeEAsyQoEuEFPGerWO", -6503, 1, 3, 7, 7, 3},
    {"2ed7b8ea-6e4d-4e1c-9b1f-0a6c9a1f3c55", -1070, 0, 2, 6, 14, 70},
    {"The quick brown fox jumps over the lazy dog", -31937, 1, 1, 1, 1, 37},
    {"device-000123", 23401, 1, 1, 1, 9, 1},
    {"partition-key", -15301, 1, 1, 5, 5, 1},
    {"é", -24812, 0, 0, 4, 12, 12},
    {"ünïcödé-key", -9139, 1, 3, 3, 19, 39},
    {"日本語", -23353, 1, 1, 1, 25, 53},
    {std::string(128, 'x'), 21896, 0, 0, 0, 8, 96},
};

TEST(PartitionKey, hashes_as_the_clients_do) {
    for (const auto& vector : vectors) {
        EXPECT_EQ(partition_key_hash(vector.key), vector.hash) << vector.key;
    }
}

TEST(PartitionKey, goes_to_the_partition_that_the_clients_compute) {
    for (const auto& vector : vectors) {
        EXPECT_EQ(partition_of_key(vector.key, 2).value, vector.of_2) << vector.key;
        EXPECT_EQ(partition_of_key(vector.key, 4).value, vector.of_4) << vector.key;
        EXPECT_EQ(partition_of_key(vector.key, 8).value, vector.of_8) << vector.key;
        EXPECT_EQ(partition_of_key(vector.key, 32).value, vector.of_32) << vector.key;
        EXPECT_EQ(partition_of_key(vector.key, 100).value, vector.of_100) << vector.key;
    }
}

TEST(PartitionKey, folds_the_two_words_of_lookup3_into_sixteen_bits) {
    const std::uint32_t c = 0x1DE0DF49;
    const std::uint32_t b = 0xC525D752;

    EXPECT_EQ(partition_key_hash("key1"), static_cast<std::int16_t>((c ^ b) & 0xffff));
}

TEST(PartitionKey, agrees_with_the_tests_of_the_clients) {
    EXPECT_EQ(partition_of_key("alphabet", 3).value, 0u);
    EXPECT_EQ(partition_of_key("alphabet", 11).value, 4u);
    EXPECT_EQ(partition_of_key("TheBestParitionEver", 4).value, 2u);
    EXPECT_EQ(partition_of_key("TheWorstParitionEver", 15).value, 1u);
    EXPECT_EQ(partition_key_hash("!c*_!I@1^c"), 15372);
    EXPECT_EQ(partition_key_hash("p4*!jioeO/z-!-;w:dh"), -3104);
    EXPECT_EQ(partition_key_hash("$0cb"), 26269);
}

TEST(PartitionKey, takes_keys_that_hold_a_zero_byte) {
    using namespace std::string_literals;

    EXPECT_NE(partition_key_hash("a\0b"s), partition_key_hash("a\0c"s));
}

TEST(PartitionKey, stays_below_any_partition_count) {
    for (std::uint32_t count = 1; count <= 2048; ++count) {
        EXPECT_LT(partition_of_key("device-" + std::to_string(count), count).value, count);
    }
}

}  // namespace
}  // namespace evenkeel::eventhubs
