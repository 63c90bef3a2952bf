#include "base/sas.h"

#include <gtest/gtest.h>

namespace evenkeel {
namespace {

TEST(Sas, signs_the_encoded_url_and_the_expiry_with_the_key_as_text) {
    const std::string token = make_sas("sb://localhost/homes", "app key", Secret("SGVsbG8="),
                                       WallTime{1'700'000'000'999});

    // printf 'sb%%3A%%2F%%2Flocalhost%%2Fhomes\n1700000000' |
    //     openssl dgst -sha256 -hmac SGVsbG8= -binary | base64
    EXPECT_EQ(token, "SharedAccessSignature sr=sb%3A%2F%2Flocalhost%2Fhomes&sig=" +
                         percent_encoded("qypdnJ/WqpGbeKQ09AfXQr/tqW33LbalJnD+/X7KE7E=") +
                         "&se=1700000000&skn=app%20key");
}

TEST(Sas, knows_when_a_token_ends) {
    EXPECT_EQ(sas_expiry("SharedAccessSignature sr=a&se=17&skn=b"), WallTime{17'000});

    EXPECT_EQ(sas_expiry("SharedAccessSignature sr=a&se=17x"), std::nullopt);
    EXPECT_EQ(sas_expiry("SharedAccessSignature sr=a"), std::nullopt);
    EXPECT_EQ(sas_expiry("SharedAccessSignature se=-1"), std::nullopt);
    EXPECT_EQ(sas_expiry("se=17"), std::nullopt);
}

TEST(Sas, encodes_with_percent_signs_and_back) {
    EXPECT_EQ(percent_encoded("aZ9-_.~ /+%\xc3"), "aZ9-_.~%20%2F%2B%25%C3");
    EXPECT_EQ(percent_decoded("aZ9%2f%2F%20%"), "aZ9// %");
    EXPECT_EQ(percent_decoded("%zz%4"), "%zz%4");
}

}  // namespace
}  // namespace evenkeel
