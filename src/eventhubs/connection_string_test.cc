#include "eventhubs/connection_string.h"

#include <gtest/gtest.h>

namespace evenkeel::eventhubs {
namespace {

Target parsed(std::string_view text) {
    auto target = parse_connection_string(text);
    EXPECT_TRUE(target.ok()) << (target.ok() ? "" : target.error().detail);
    return target.ok() ? *target : Target{};
}

TEST(ConnectionString, reads_azures_own) {
    const Target target = parsed(
        "Endpoint=sb://contoso.servicebus.windows.net/;SharedAccessKeyName=app;"
        "SharedAccessKey=c2Vj/cmV0+A==;EntityPath=homes");

    EXPECT_EQ(target.endpoint, (io::Endpoint{"contoso.servicebus.windows.net", 5671}));
    EXPECT_TRUE(target.tls);
    EXPECT_FALSE(target.websocket);
    EXPECT_EQ(target.event_hub, "homes");
    EXPECT_EQ(target.key_name, "app");
    EXPECT_EQ(target.key.reveal(), "c2Vj/cmV0+A==");
    EXPECT_EQ(target.audience(), "sb://contoso.servicebus.windows.net/homes");
}

TEST(ConnectionString, reads_the_emulators_with_any_case_and_blanks) {
    const Target target = parsed(
        " endpoint=sb://localhost:5999 ; sharedaccesskeyname=RootManageSharedAccessKey;"
        "SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=True;\n");

    EXPECT_EQ(target.endpoint, (io::Endpoint{"localhost", 5999}));
    EXPECT_FALSE(target.tls);
    EXPECT_EQ(target.event_hub, "");
}

TEST(ConnectionString, chooses_the_port_of_the_transport) {
    const std::string base = "Endpoint=sb://h;SharedAccessKeyName=n;SharedAccessKey=k";

    EXPECT_EQ(parsed(base).endpoint.port, 5671);
    EXPECT_EQ(parsed(base + ";UseDevelopmentEmulator=true").endpoint.port, 5672);
    EXPECT_EQ(parsed(base + ";TransportType=AmqpWebSockets").endpoint.port, 443);
    EXPECT_TRUE(parsed(base + ";TransportType=AmqpWebSockets").websocket);
    EXPECT_EQ(
        parsed(base + ";TransportType=AmqpWebSockets;UseDevelopmentEmulator=true").endpoint.port,
        80);
    EXPECT_EQ(parsed("amqp://h/x").endpoint.port, 5672);
    EXPECT_EQ(parsed("amqps://h/x").endpoint.port, 5671);
}

TEST(ConnectionString, takes_a_finished_signature_in_place_of_a_key) {
    const std::string token = "SharedAccessSignature sr=a&sig=b&se=17&skn=c";

    EXPECT_EQ(parsed("Endpoint=sb://h;SharedAccessSignature=" + token).token.reveal(), token);
}

TEST(ConnectionString, reads_a_url) {
    const Target target = parsed("amqps://my%20app:a%2Fb%3D@[::1]:99/homes/of/many/");

    EXPECT_EQ(target.endpoint, (io::Endpoint{"::1", 99}));
    EXPECT_TRUE(target.tls);
    EXPECT_EQ(target.key_name, "my app");
    EXPECT_EQ(target.key.reveal(), "a/b=");
    EXPECT_EQ(target.event_hub, "homes/of/many");
    EXPECT_TRUE(parsed("amqp://localhost/homes").key.empty());
}

TEST(ConnectionString, says_what_is_wrong_and_never_shows_a_key) {
    const std::string keys = ";SharedAccessKeyName=app;SharedAccessKey=TOPSECRET";
    const std::pair<std::string, std::string_view> cases[] = {
        {"", "empty"},
        {"nonsense", "Name=value"},
        {"=x", "Name=value"},
        {"EntityPath=homes", "Endpoint=sb://host is missing"},
        {"Endpoint=localhost" + keys, "sb://host"},
        {"Endpoint=http://localhost" + keys, "sb://host"},
        {"Endpoint=sb://" + keys, "host is missing"},
        {"Endpoint=sb://a b" + keys, "no host name"},
        {"Endpoint=sb://h:0" + keys, "port"},
        {"Endpoint=sb://h:65536" + keys, "port"},
        {"Endpoint=sb://h:x" + keys, "port"},
        {"Endpoint=sb://[::1" + keys, "]"},
        {"Endpoint=sb://[::1]x" + keys, ":port"},
        {"Endpoint=sb://h;SharedAccessKey=TOPSECRET", "SharedAccessKeyName"},
        {"Endpoint=sb://h;SharedAccessKeyName=app", "SharedAccessKey"},
        {"Endpoint=sb://h;SharedAccessSignature=TOPSECRET", "no token"},
        {"Endpoint=sb://h;SharedAccessSignature=SharedAccessSignature se=1" + keys, "exclude"},
        {"Endpoint=sb://h;UseDevelopmentEmulator=yes" + keys, "true or false"},
        {"Endpoint=sb://h;TransportType=Pigeon" + keys, "TransportType"},
        {"amqp://TOPSECRET@h/x", "key-name:key"},
        {"amqp://:TOPSECRET@h/x", "key-name:key"},
        {"amqp:///x", "host is missing"},
        {std::string(20'000, 'x'), "too long"},
    };
    for (const auto& [text, part] : cases) {
        const auto target = parse_connection_string(text);

        ASSERT_FALSE(target.ok()) << text;
        EXPECT_EQ(target.error().code, ErrorCode::invalid_argument) << text;
        EXPECT_NE(target.error().detail.find(part), std::string::npos) << target.error().detail;
        EXPECT_EQ(target.error().detail.find("TOPSECRET"), std::string::npos);
    }
}

}  // namespace
}  // namespace evenkeel::eventhubs
