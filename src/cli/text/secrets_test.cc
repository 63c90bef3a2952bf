#include "cli/text/secrets.h"

#include <gtest/gtest.h>

namespace evenkeel::cli {
namespace {

TEST(Secrets, are_hidden_in_addresses_of_stores) {
    EXPECT_EQ(without_secrets("azblob:AccountName=a;AccountKey=s3cr==;Container=c"),
              "azblob:AccountName=a;AccountKey=***;Container=c");
    EXPECT_EQ(without_secrets("postgresql://me:s3/cr@host/db"), "postgresql://me:***@host/db");
    EXPECT_EQ(without_secrets("host=h PASSWORD='s3 cr' user=u"), "host=h PASSWORD='***' user=u");
    EXPECT_EQ(without_secrets("https://a/c?SIG=s3cr&se=1"), "https://a/c?SIG=***&se=1");
    EXPECT_EQ(without_secrets("sharedaccesskey=s3cr"), "sharedaccesskey=***");
    EXPECT_EQ(without_secrets("redis://me@host/0 and a:b"), "redis://me@host/0 and a:b");
    EXPECT_EQ(without_secrets("password="), "password=***");
    EXPECT_EQ(without_secrets(""), "");
}

TEST(Redaction, finds_a_learnt_secret_wherever_it_stands) {
    Redaction redaction;
    redaction.learn("Endpoint=sb://h;SharedAccessKeyName=n;SharedAccessKey=ab+/\"cd==");
    redaction.learn("redis://:p%40ss%21@host");
    redaction.learn_secret("xyz");

    EXPECT_EQ(redaction.apply("it is ab+/\"cd== here"), "it is *** here");
    EXPECT_EQ(redaction.apply("json ab+/\\\"cd== too"), "json *** too");
    EXPECT_EQ(redaction.apply("and ab%2B%2F%22cd%3D%3D"), "and ***");
    EXPECT_EQ(redaction.apply("p@ss! and p%40ss%21"), "*** and ***");
    EXPECT_EQ(redaction.apply("xyz"), "xyz") << "too short to be searched for";
    EXPECT_EQ(redaction.apply("new: password=abc"), "new: password=***");
}

TEST(Redaction, hides_the_keys_of_a_configuration) {
    Redaction redaction;

    const std::string masked = redaction.apply_to_configuration(
        "data = \"/var\"\n[[rule]]\nname = \"app\"\nprimary_key = \"s3cr-1\"\n"
        "secondary_key = \"\"\"\ns3cr-2\n\"\"\"\nprimary_key_file = \"/etc/key\"\n"
        "# primary_key is s3cr-1\njwt.key_set_url = \"https://u:s3cr-3@h/keys\"\n"
        "\"some-token\" = 's3cr-4'\n");

    EXPECT_EQ(masked.find("s3cr"), std::string::npos) << masked;
    EXPECT_NE(masked.find("primary_key_file = \"/etc/key\""), std::string::npos) << masked;
    EXPECT_NE(masked.find("name = \"app\""), std::string::npos) << masked;
}

}  // namespace
}  // namespace evenkeel::cli
