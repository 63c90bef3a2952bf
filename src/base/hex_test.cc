#include "base/hex.h"

#include <array>

#include <gtest/gtest.h>

namespace evenkeel {
namespace {

TEST(Hex, has_two_small_digits_for_each_byte) {
    EXPECT_EQ(to_hex(std::array{std::byte{0x00}, std::byte{0x0a}, std::byte{0xff}}), "000aff");
}

TEST(Hex, of_nothing_is_empty) {
    EXPECT_EQ(to_hex({}), "");
}

}  // namespace
}  // namespace evenkeel
