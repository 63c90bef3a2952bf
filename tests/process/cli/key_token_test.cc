// Tokens made on the command line.
#include <boost/json.hpp>

#include "process/cli/dev_hub.h"

namespace evenkeel::cli_tests {
namespace {

class KeyToken : public CliTest {
protected:
    static std::string with(std::string token) {
        if (token.ends_with('\n')) token.pop_back();
        return "Endpoint=sb://localhost:" + hub_->amqp_port() + ";SharedAccessSignature=" + token +
               ";UseDevelopmentEmulator=true";
    }
};

TEST_F(KeyToken, is_accepted_by_the_hub_for_what_it_names) {
    const auto token = evenkeel({"key", "token", "--event-hub", "eh1", "--lifetime", "5m"});
    ASSERT_EQ(token.exit_code, 0) << token.errors;
    EXPECT_EQ(token.errors, "");
    EXPECT_TRUE(token.output.starts_with("SharedAccessSignature sr=sb%3A%2F%2Flocalhost%2Feh1&"))
        << token.output;
    EXPECT_EQ(std::count(token.output.begin(), token.output.end(), '\n'), 1) << token.output;

    EXPECT_EQ(evenkeel({"send", "eh1", "signed", "--hub", with(token.output)}).exit_code, 0);
    ASSERT_EQ(evenkeel({"hub", "create", "other"}).exit_code, 0);
    EXPECT_EQ(evenkeel({"send", "other", "x", "--hub", with(token.output)}).exit_code, 4);
    const auto whole = evenkeel({"key", "token"});
    EXPECT_EQ(evenkeel({"send", "other", "x", "--hub", with(whole.output)}).exit_code, 0);
    std::string forged = token.output;
    forged.replace(forged.find("eh1"), 3, "ehx");
    EXPECT_EQ(evenkeel({"send", "eh1", "x", "--hub", with(forged)}).exit_code, 4);
}

TEST_F(KeyToken, is_the_known_one_and_needs_no_server) {
    // printf 'sb%%3A%%2F%%2Fnobody.example%%2Fhomes\n4102444800' |
    //     openssl dgst -sha256 -hmac SGVsbG8= -binary | base64
    const std::string connection =
        "Endpoint=sb://nobody.example;SharedAccessKeyName=app key;SharedAccessKey=SGVsbG8=";
    const auto token = evenkeel({"key", "token", "--hub", connection, "--event-hub", "homes",
                                 "--expires", "2100-01-01T00:00:00Z"});

    EXPECT_EQ(token.exit_code, 0) << token.errors;
    EXPECT_EQ(token.output,
              "SharedAccessSignature sr=sb%3A%2F%2Fnobody.example%2Fhomes&sig="
              "iK078nrhMXgzDXGPsll2l6x4M9Gbd%2BjQMMRMRncZk5M%3D&se=4102444800&skn=app%20key\n");
}

TEST_F(KeyToken, tells_its_end_as_json) {
    const auto outcome = evenkeel({"key", "token", "--event-hub", "eh1", "-o", "json", "--expires",
                                   "2100-01-01T00:00:00.7Z"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
    const auto value = boost::json::parse(outcome.output);
    EXPECT_EQ(value.at("expires_at"), "2100-01-01T00:00:00.000Z");
    EXPECT_EQ(value.at("audience"), "sb://localhost/eh1");
    EXPECT_EQ(value.at("key_name"), "RootManageSharedAccessKey");
    EXPECT_TRUE(has(value.at("token").as_string().c_str(), "&se=4102444800&"));
    EXPECT_FALSE(has(outcome.output, "SAS_KEY_VALUE"));
}

TEST_F(KeyToken, is_refused_without_a_key_or_a_future) {
    for (const auto& more : std::vector<std::vector<std::string>>{
             {"--lifetime", "0s"},
             {"--lifetime", "1"},
             {"--lifetime", "99999999d"},
             {"--expires", "2020-01-01"},
             {"--expires", "tomorrow"},
             {"--expires", "2100-01-01", "--lifetime", "1h"},
             {"--hub", "Endpoint=sb://localhost;UseDevelopmentEmulator=true"},
             {"--hub",
              "Endpoint=sb://localhost;SharedAccessSignature=SharedAccessSignature sr=a"}}) {
        std::vector<std::string> words = {"key", "token"};
        words.insert(words.end(), more.begin(), more.end());
        const auto outcome = evenkeel(words);
        EXPECT_EQ(outcome.exit_code, 2) << outcome.output << outcome.errors;
        EXPECT_EQ(outcome.output, "");
        EXPECT_TRUE(has(outcome.errors, "error: ")) << outcome.errors;
    }
}

}  // namespace
}  // namespace evenkeel::cli_tests
