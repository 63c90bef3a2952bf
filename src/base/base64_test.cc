#include "base/base64.h"

#include <gtest/gtest.h>

namespace evenkeel {
namespace {

using namespace std::string_literals;

TEST(Base64, encodes_as_rfc_4648_shows) {
    EXPECT_EQ(base64_encoded(as_bytes("")), "");
    EXPECT_EQ(base64_encoded(as_bytes("f")), "Zg==");
    EXPECT_EQ(base64_encoded(as_bytes("fo")), "Zm8=");
    EXPECT_EQ(base64_encoded(as_bytes("foo")), "Zm9v");
    EXPECT_EQ(base64_encoded(as_bytes("foobar")), "Zm9vYmFy");
    EXPECT_EQ(base64_encoded(as_bytes("\xff\x00\x01"s)), "/wAB");
}

TEST(Base64, decodes_what_it_encoded) {
    std::string bytes;
    for (int i = 0; i < 300; ++i) {
        bytes += static_cast<char>(i * 7);
        EXPECT_EQ(base64_decoded(base64_encoded(as_bytes(bytes))), bytes);
    }
}

TEST(Base64, refuses_other_text) {
    for (const auto* const bad : {"", "Zg", "Zg=", "Z", "Zm9*", "====="}) {
        EXPECT_EQ(base64_decoded(bad), std::nullopt) << bad;
    }
}

TEST(Base64Url, decodes_without_padding) {
    EXPECT_EQ(base64url_decoded(""), "");
    EXPECT_EQ(base64url_decoded("Zg"), "f");
    EXPECT_EQ(base64url_decoded("Zm8"), "fo");
    EXPECT_EQ(base64url_decoded("_-8B"), "\xff\xef\x01");
}

TEST(Base64Url, refuses_padding_other_characters_and_spare_bits) {
    for (const auto* const bad : {"Zg==", "/wAB", "+wAB", "Z", "Zh", "Zm9", "Z g"}) {
        EXPECT_EQ(base64url_decoded(bad), std::nullopt) << bad;
    }
}

}  // namespace
}  // namespace evenkeel
