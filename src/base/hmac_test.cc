#include "base/hmac.h"

#include <gtest/gtest.h>

#include "base/hex.h"

namespace evenkeel {
namespace {

// The second and the sixth test case of RFC 4231.
TEST(HmacSha256, agrees_with_rfc_4231) {
    EXPECT_EQ(to_hex(hmac_sha256("what do ya want for nothing?", Secret("Jefe"))),
              "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    EXPECT_EQ(to_hex(hmac_sha256("Test Using Larger Than Block-Size Key - Hash Key First",
                                 Secret(std::string(131, '\xaa')))),
              "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

}  // namespace
}  // namespace evenkeel
