#include "eventhubs/sas.h"

#include <gtest/gtest.h>

#include "base/percent.h"

namespace evenkeel::eventhubs {
namespace {

TEST(Sas, signs_url_and_expiry_with_the_key_as_written) {
    const std::string token = make_sas("sb://localhost/homes", "app key", Secret("SGVsbG8="),
                                       WallTime{1'700'000'000'999});

    // printf 'sb%%3A%%2F%%2Flocalhost%%2Fhomes\n1700000000' |
    //     openssl dgst -sha256 -hmac SGVsbG8= -binary | base64
    EXPECT_EQ(token, "SharedAccessSignature sr=sb%3A%2F%2Flocalhost%2Fhomes&sig=" +
                         percent_encoded("qypdnJ/WqpGbeKQ09AfXQr/tqW33LbalJnD+/X7KE7E=") +
                         "&se=1700000000&skn=app%20key");
}

TEST(Sas, reads_the_expiry_of_a_token) {
    EXPECT_EQ(sas_expiry("SharedAccessSignature sr=a&se=17&skn=b"), WallTime{17'000});

    EXPECT_EQ(sas_expiry("SharedAccessSignature sr=a&se=17x"), std::nullopt);
    EXPECT_EQ(sas_expiry("SharedAccessSignature sr=a"), std::nullopt);
    EXPECT_EQ(sas_expiry("SharedAccessSignature se=-1"), std::nullopt);
    EXPECT_EQ(sas_expiry("se=17"), std::nullopt);
}

}  // namespace
}  // namespace evenkeel::eventhubs
