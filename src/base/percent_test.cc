#include "base/percent.h"

#include <gtest/gtest.h>

namespace evenkeel {
namespace {

TEST(Percent, encodes_all_but_unreserved_characters) {
    EXPECT_EQ(percent_encoded("aZ9-_.~ /+%\xc3"), "aZ9-_.~%20%2F%2B%25%C3");
    EXPECT_EQ(percent_encoded(""), "");
    EXPECT_EQ(percent_encoded("a/b=c d%", "/="), "a/b=c%20d%25");
}

TEST(Percent, decodes_and_keeps_malformed_escapes) {
    EXPECT_EQ(percent_decoded("aZ9%2f%2F%20%"), "aZ9// %");
    EXPECT_EQ(percent_decoded("%zz%4"), "%zz%4");
    EXPECT_EQ(percent_decoded("%-1%+1% 1"), "%-1%+1% 1");
}

TEST(Percent, strict_decoding_refuses_malformed_escapes) {
    EXPECT_EQ(percent_decoded_strictly("a%2Fb%20c%c3%a4"), "a/b c\xc3\xa4");
    EXPECT_EQ(percent_decoded_strictly(""), "");

    for (const auto* const bad : {"%", "a%2", "%zz", "%2x", "%%41", "a%%41", "%2g", "%-1", "%+1"}) {
        EXPECT_EQ(percent_decoded_strictly(bad), std::nullopt) << bad;
    }
}

TEST(Percent, round_trips_every_byte) {
    std::string all;
    for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);

    EXPECT_EQ(percent_decoded(percent_encoded(all)), all);
    EXPECT_EQ(percent_decoded_strictly(percent_encoded(all)), all);
}

}  // namespace
}  // namespace evenkeel
