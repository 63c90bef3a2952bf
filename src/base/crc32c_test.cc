#include "base/crc32c.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "support/seed.h"

namespace evenkeel {
namespace {

// Bit by bit, as the definition has it.
std::uint32_t slow_crc32c(ByteView bytes) {
    std::uint32_t crc = ~std::uint32_t{0};
    for (const std::byte byte : bytes) {
        crc ^= std::to_integer<std::uint32_t>(byte);
        for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78u : 0u);
    }
    return ~crc;
}

TEST(Crc32c, has_the_known_values) {
    const std::vector<std::byte> zeros(32);
    const std::vector<std::byte> ones(32, std::byte{0xff});

    EXPECT_EQ(crc32c(as_bytes("123456789")), 0xe3069283u);
    EXPECT_EQ(crc32c(as_bytes("")), 0u);
    EXPECT_EQ(crc32c(zeros), 0x8a9136aau);  // RFC 3720, B.4
    EXPECT_EQ(crc32c(ones), 0x62a8ab43u);
}

TEST(Crc32c, of_two_parts_in_turn_is_that_of_both_joined) {
    Random random(test::test_seed());
    for (int i = 0; i < 200; ++i) {
        std::vector<std::byte> bytes(random.below(300));
        random.fill(bytes);
        const std::size_t cut = random.below(bytes.size() + 1);

        const auto whole = crc32c(bytes);

        EXPECT_EQ(whole, slow_crc32c(bytes));
        EXPECT_EQ(crc32c(ByteView(bytes).subspan(cut), crc32c(ByteView(bytes).first(cut))), whole);
    }
}

TEST(Crc32c, sees_every_single_bit) {
    std::vector<std::byte> bytes(64, std::byte{0x5a});
    const auto before = crc32c(bytes);

    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
        bytes[bit / 8] ^= std::byte{1} << (bit % 8);
        EXPECT_NE(crc32c(bytes), before) << bit;
        bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    }
}

}  // namespace
}  // namespace evenkeel
